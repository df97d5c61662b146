"""Registry and hosting of bots, and their replies."""
