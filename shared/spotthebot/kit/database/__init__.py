"""PostgreSQL: sessions, look-ups, single statements, retention, and each API key's share of the connections."""
