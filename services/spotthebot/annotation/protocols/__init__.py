"""A protocol says what annotators are asked of an item, in which steps; its versions never change."""
