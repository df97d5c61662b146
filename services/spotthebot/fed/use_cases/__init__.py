"""What `fed` does: one function for each use case."""
