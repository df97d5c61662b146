"""Verdicts on pairs of bots while a campaign runs. A verdict that was given is kept."""
