"""Pages with the payments that a campaign owes its annotators, and with files for panels."""
