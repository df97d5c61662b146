"""The dashboard of a campaign's results: its parts, figures and files."""
