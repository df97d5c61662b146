"""The only SQL over quality checks, quality flags and their summaries."""
