"""Verdicts on pairs of bots while annotations arrive: false claims at any look, decided pairs, saved labels."""
