"""Scores dialogues by FED: those of a file by a model in this process, those of a collection by the service `fed`."""
