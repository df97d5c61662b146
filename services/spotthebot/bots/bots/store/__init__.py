"""The only SQL over bots and their versions."""
