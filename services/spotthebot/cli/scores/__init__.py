"""Scores dialogues from a file with FED, in this process: no service runs."""
