"""The wire schemas of FED: dimensions, scorers, scores, and jobs that score collections."""
