"""Calls to `annotation`, `conversations` and `bots`."""
