"""The results of a team: its own bots by name, all others by pseudonyms."""
