"""Pages on which administrators upload versions of a training, and annotators learn with it before they work."""
