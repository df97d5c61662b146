"""The first page of the site."""
