"""The tables of the first revision of `annotation`, by noun; later revisions change them."""
