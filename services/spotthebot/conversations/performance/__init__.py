"""Performance says how a bot did in the conversations that it takes part in."""
