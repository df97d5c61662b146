"""The demonstration `./stb demo`: a small campaign, from conversations to a ranking."""
