"""Campaigns, packages, assignments and annotations: the task API. It never learns who speaks, so it shows no bot."""
