"""PostgreSQL: sessions, look-ups and single statements, shares of connections, retention."""
