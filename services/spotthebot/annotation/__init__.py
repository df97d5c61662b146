"""Campaigns, packages, assignments: the task API. It never learns who is a bot, so it can't tell."""
