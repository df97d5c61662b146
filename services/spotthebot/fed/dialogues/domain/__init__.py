"""Dialogues and their sources; all functions are pure."""
