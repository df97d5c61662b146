"""Values of a campaign as tables and as columns for the statistics; all functions are pure."""
