"""The use cases of `annotation`, one module for each noun."""
