"""The use cases of `conversations`, by noun."""
