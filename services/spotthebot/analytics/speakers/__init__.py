"""The order and the marks of a campaign's speakers."""
