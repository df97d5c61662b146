"""Creates the table of stored answers in a service's first revision. Each service has its own later revisions of it."""

import sqlalchemy as sa
from alembic import op


def create_idempotency_table(schema: str, *, early_claims: bool = False) -> None:
    """Create the table of stored answers, found by their `Idempotency-Key`, in a service's schema."""
    op.create_table(
        "idempotency_keys",
        sa.Column("principal", sa.Uuid(), nullable=False),
        sa.Column("path", sa.String(500), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("request_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.SmallInteger()),
        sa.Column("body", sa.LargeBinary()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        *([sa.Column("created", sa.Uuid())] if early_claims else []),
        sa.PrimaryKeyConstraint("principal", "path", "key", name="pk_idempotency_keys"),
        schema=schema,
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"], schema=schema)
