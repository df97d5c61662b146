"""What all services' HTTP edges share: problems, sessions, keys, idempotency, pages, limits, health, metrics."""
