"""The table of stored answers, found by their `Idempotency-Key`.

The module is separate from the routes, so that workers import no web framework.
"""

from sqlalchemy import Column, DateTime, Index, LargeBinary, MetaData, SmallInteger, String, Table, Uuid

LONGEST_PATH = 500


def idempotency_table(metadata: MetaData, *, early_claims: bool = False) -> Table:
    """Add the table of stored answers to the metadata of a service.

    With `early_claims` it can store the id of the created thing before there is an answer.
    """
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
