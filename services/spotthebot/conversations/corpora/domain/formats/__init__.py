"""Reads dialogues from the formats of published corpora: bytes in, dialogues and rejected lines out."""
