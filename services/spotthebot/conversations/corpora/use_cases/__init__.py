"""Corpora: uploads of files of dialogues, and the dialogues that bots may learn from."""
