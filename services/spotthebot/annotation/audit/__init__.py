"""The audit log records each decision that affects a person, a label or a campaign, and who made it."""
