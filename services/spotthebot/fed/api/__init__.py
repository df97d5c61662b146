"""The HTTP side of `fed`."""
