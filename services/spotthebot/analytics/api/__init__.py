"""The HTTP layer of `analytics`. An endpoint validates its input, calls one use case, and returns the answer."""
