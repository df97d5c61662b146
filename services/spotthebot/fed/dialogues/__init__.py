"""A dialogue is what a model scores: from a file, from the published data, or a conversation of a collection."""
