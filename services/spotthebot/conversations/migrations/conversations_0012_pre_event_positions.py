"""Events have positions, given after their commit: no reader's cursor passes an event that is committed later."""

import sqlalchemy as sa
from alembic import op

revision = "conversations_0012"
down_revision = "conversations_0011"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"


def upgrade() -> None:
    op.execute("CREATE SEQUENCE conversations.event_positions")
    op.add_column("events", sa.Column("position", sa.BigInteger()), schema=_SCHEMA)
    op.execute(
        """
        UPDATE conversations.events AS e SET position = n.position
        FROM (
            SELECT id, nextval('conversations.event_positions') AS position
            FROM (SELECT id FROM conversations.events WHERE distributed ORDER BY id) AS ordered
        ) AS n
        WHERE n.id = e.id
        """
    )
    op.create_index(
        "ix_events_unnumbered",
        "events",
        ["id"],
        schema=_SCHEMA,
        postgresql_where=sa.text("distributed AND position IS NULL"),
    )
    op.create_index("ix_events_position", "events", ["position"], schema=_SCHEMA, unique=True)
    op.create_index(
        "ix_events_team_position",
        "events",
        ["team", "position"],
        schema=_SCHEMA,
        postgresql_where=sa.text("team IS NOT NULL"),
    )
