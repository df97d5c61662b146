"""Pages on which a visitor signs in with an API key, signs out, and chooses a language."""
