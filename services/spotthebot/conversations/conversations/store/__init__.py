"""The only SQL over conversations and turns."""
