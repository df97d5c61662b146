"""Trainings: checks of documents, and what is right in an answer; all pure."""
