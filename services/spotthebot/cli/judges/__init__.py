"""Judges: the file that declares one, versions by name, and runs on campaigns."""
