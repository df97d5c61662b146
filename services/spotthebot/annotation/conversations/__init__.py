"""A conversation is shown to annotators as texts, without its participants."""
