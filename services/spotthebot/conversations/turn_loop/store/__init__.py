"""The only SQL over claims of conversations, concurrency slots and unavailable bots."""
