"""Corpora: uploads of dialogue files, and the dialogues that bots may learn from."""
