"""The campaigns of `annotation`: a list, and the campaign that a request names."""
