"""API keys: made and revoked by the operator, checked by every service in its own database connection."""
