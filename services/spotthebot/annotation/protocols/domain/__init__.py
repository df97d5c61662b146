"""Checks of protocols and of answers, all pure, and the documents that are built in."""
