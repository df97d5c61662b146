"""What an API has whose callers authenticate with API keys: the keys, roles, rate limits."""
