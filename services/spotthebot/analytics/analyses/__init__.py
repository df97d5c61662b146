"""Analyses that take minutes and run as step jobs: the stability of a ranking, and plans."""
