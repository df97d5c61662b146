"""The embedded PostgreSQL: found, created, started and provisioned without an installation step."""
