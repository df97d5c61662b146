"""API keys in the HTTP layer of an application: authentication, roles, rate limits."""
