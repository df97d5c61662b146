"""The rules for the replies of built-in bots, without I/O. Each bot has one file."""
