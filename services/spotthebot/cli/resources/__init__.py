"""Bots, campaigns, collections, corpora and keys that a user names, by name, id or the beginning of an id."""
