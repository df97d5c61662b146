"""A conversation holds the turns of two participants in strict alternation, until it is complete or has failed."""
