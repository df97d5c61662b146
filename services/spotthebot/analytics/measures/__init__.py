"""The measures of a campaign: bots with intervals and ranks, by each question about bots."""
