"""A search finds conversations of a collection by speakers, outcome and words."""
