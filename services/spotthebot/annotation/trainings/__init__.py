"""A training teaches annotators a protocol by dialogues with right answers."""
