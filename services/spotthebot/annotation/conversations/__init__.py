"""A conversation is shown to annotators by its texts; nothing says who speaks."""
