"""Campaigns are created, changed, filled with packages or imports, opened and closed."""
