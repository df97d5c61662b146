"""What an application has that keeps data in PostgreSQL: sessions, idempotency keys, readiness of its schemas."""
