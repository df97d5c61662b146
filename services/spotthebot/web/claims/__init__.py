"""Claims: sentences about bots that the statistics of a campaign support."""
