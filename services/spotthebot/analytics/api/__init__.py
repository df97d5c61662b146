"""The HTTP edge of `analytics`: validate, call one use case, shape the answer."""
