"""Corpora, collections and the turn loop: who talks to whom, and what was said."""
