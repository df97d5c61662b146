"""What `./stb demo` plays: a small study, from conversations to a ranking."""
