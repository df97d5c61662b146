"""The table of answers by `Idempotency-Key`, apart from the routes: workers import tables and no web framework."""

from sqlalchemy import Column, DateTime, Index, LargeBinary, MetaData, SmallInteger, String, Table, Uuid

LONGEST_PATH = 500


def idempotency_table(metadata: MetaData, *, early_claims: bool = False) -> Table:
    """Add the table of answers to a service's schema; `early_claims` store the id of what was created."""
    return Table(
        "idempotency_keys",
        metadata,
        Column("principal", Uuid, primary_key=True),
        Column("path", String(LONGEST_PATH), primary_key=True),
        Column("key", String(200), primary_key=True),
        Column("request_sha256", LargeBinary, nullable=False),
        Column("status", SmallInteger),
        Column("body", LargeBinary),
        Column("created_at", DateTime(timezone=True), nullable=False),
        *([Column("created", Uuid)] if early_claims else []),
        Index("ix_idempotency_keys_created_at", "created_at"),
    )
