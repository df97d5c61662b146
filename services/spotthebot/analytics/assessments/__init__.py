"""Which measures deserve trust, by an outcome."""
