"""Converts results of the statistics to wire types. Names replace the codes of bots, and null replaces NaN."""
