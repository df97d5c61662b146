"""Clients of `annotation`, `conversations` and `bots`."""
