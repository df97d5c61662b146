"""A judge is a program whose labels are meant to be used. Its versions never change."""
