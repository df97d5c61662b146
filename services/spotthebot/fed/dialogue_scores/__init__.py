"""A dialogue score is the mean score of a bot's turns in one conversation."""
