"""Campaigns, packages and assignments as pure rules: lifecycles, and how conversations become packages."""
