"""A protocol says which questions annotators answer about an item, in which steps; its versions never change."""
