"""How often tests tell different bots apart, and equal ones, beside an oracle that knows the variance."""
