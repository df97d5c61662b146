"""A campaign's results: its sections, measures, figures and ranks."""
