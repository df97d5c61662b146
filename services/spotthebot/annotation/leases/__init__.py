"""A lease gives a package to one annotator until submission or expiry."""
