"""A score job scores the bots of a collection, in steps."""
