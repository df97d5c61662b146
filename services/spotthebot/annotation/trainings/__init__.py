"""A training teaches annotators a protocol by dialogues whose right answers it has."""
