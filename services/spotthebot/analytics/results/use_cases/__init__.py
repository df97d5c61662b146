"""The use cases of results: kept or recent ones, several at once, figures and ranks."""
