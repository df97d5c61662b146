"""Public results of campaigns, for everybody."""
