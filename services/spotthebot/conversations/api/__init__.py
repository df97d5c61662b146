"""The HTTP edge of `conversations`: validate, call one use case, shape the answer."""
