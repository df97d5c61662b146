"""All SQL of `fed` is here."""
