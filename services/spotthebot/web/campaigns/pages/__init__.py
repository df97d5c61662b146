"""Pages of administrators: the list of campaigns, one campaign, its form and its entry links."""
