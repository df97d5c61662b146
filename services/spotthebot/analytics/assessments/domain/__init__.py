"""Assesses measures by an outcome, and says what was found."""
