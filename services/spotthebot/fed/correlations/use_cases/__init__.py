"""Fetches people's ratings, and correlates scores with them."""
