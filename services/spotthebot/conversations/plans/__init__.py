"""A plan yields the conversations of a collection, the same ones for the same seed; a start stores and queues them."""
