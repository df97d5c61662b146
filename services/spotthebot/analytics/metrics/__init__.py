"""The metrics of `analytics` for its operator."""
