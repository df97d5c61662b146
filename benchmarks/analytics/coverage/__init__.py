"""Whether intervals hold what they promise where annotations share conversations and annotators."""
