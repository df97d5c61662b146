"""Verdicts on pairs of bots, which `analytics` reports: they order the packages, and may stop a campaign."""
