"""API keys. The operator makes and revokes them; every service checks them over its own connection to the database."""
