"""Pages on which administrators create, change, open and end campaigns, and make links for annotators."""
