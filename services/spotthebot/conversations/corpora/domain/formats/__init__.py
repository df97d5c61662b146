"""Reads dialogues from the forms in which corpora are published: bytes in, dialogues and rejected lines out."""
