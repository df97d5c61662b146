"""Converts statistics of measures to wire types. Names replace the codes of bots, and null replaces NaN."""
