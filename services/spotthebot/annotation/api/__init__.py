"""The HTTP edge of `annotation`: validate, call one use case, shape the answer."""
