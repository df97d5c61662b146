"""Pages on which readers find a conversation of a collection, and see its annotations, scores and ratings."""
