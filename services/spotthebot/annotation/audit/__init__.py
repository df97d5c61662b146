"""The audit log notes each decision that touches a person, a label or a campaign, and who made it."""
