"""An annotation is an answer to an item as it was submitted, or as it was imported."""
