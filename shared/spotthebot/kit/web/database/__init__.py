"""An application's data in PostgreSQL: sessions, idempotency keys, readiness of its schemas."""
