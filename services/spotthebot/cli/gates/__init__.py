"""`./stb gate`: compares a new version of a bot with an old one, and fails if the new one is provably worse."""
