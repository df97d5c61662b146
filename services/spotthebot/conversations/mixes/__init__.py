"""A mix takes the conversations of one or several collections for a campaign."""
