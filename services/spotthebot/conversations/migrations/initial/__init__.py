"""The tables of the first revision of `conversations`, by noun; later revisions change them."""
