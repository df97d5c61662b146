"""Erasure removes a person from all campaigns of a frontend; their labels stay."""
