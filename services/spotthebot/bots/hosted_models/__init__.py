"""A hosted model holds the files of a model that the suite runs itself."""
