"""Pages about all bots of a team, and about one bot."""
