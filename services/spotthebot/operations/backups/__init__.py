"""Backups: one file with all data of a suite, written while the suite runs, and the restoration from this file."""
