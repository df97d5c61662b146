"""A quality check flags a collection's conversations by their texts: duplicates, languages, personal data."""
