"""A search finds conversations of a collection by who speaks, how they ended and what was said."""
