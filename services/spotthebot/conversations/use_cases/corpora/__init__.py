"""Corpora: uploads of files of dialogues."""
