"""A chat holds a person's conversations with bots, which the person rates at the end."""
