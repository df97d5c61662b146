"""The use cases of `fed`; each is a function."""
