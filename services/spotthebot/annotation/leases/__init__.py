"""A lease gives a package to one annotator until it is submitted or its time is up."""
