"""Erasure removes a person from every campaign of a frontend; their labels stay."""
