"""Votes and ratings in tables of other tools: rankings, and measures assessed by an outcome."""
