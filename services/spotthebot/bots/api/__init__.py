"""The HTTP edge of `bots`: validate, call one use case, shape the answer."""
