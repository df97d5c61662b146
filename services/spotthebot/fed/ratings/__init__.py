"""A rating is a person's answer about a bot, as a number."""
