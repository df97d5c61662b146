"""Corpora, collections and the turn loop: the participants of conversations, and their turns."""
