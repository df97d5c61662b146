"""The pages of a dashboard: the page itself, its parts, its figures and files."""
