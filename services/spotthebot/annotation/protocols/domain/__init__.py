"""Checks of protocols and of answers, all pure, and the built-in documents."""
