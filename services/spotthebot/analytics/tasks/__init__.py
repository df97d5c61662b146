"""The tasks of a study, and the names of their measures."""
