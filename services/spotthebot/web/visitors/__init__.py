"""Visitors: people who signed in with an API key, and annotators who opened an entry link."""
