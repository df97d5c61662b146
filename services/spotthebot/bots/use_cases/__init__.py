"""The use cases of `bots`, by noun."""
