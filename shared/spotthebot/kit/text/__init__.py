"""Characters, words and names of texts, and messages about faults in values."""
