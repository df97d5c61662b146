"""Whose bots may learn from a corpus, and the exchanges of people's conversations that no bot may learn."""

from uuid import UUID

import sqlalchemy as sa
from alembic import op

from spotthebot.conversations.domain.held_out import ALWAYS, PeoplesConversation, held_out_exchanges

revision = "conversations_0010"
down_revision = "conversations_0009"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"
_CONVERSATIONS_AT_ONCE = 1000
_BY_PEOPLE = sa.text("""
    SELECT c.id, c.opening || (
        SELECT coalesce(array_agg(t.text ORDER BY t.position), '{}')
        FROM conversations.turns AS t WHERE t.conversation_id = c.id
    ) AS turns, o.mode
    FROM conversations.conversations AS c
    JOIN conversations.collections AS o ON o.id = c.collection_id
    JOIN conversations.pairs AS p ON p.collection_id = c.collection_id AND p.number = c.pair
    WHERE c.state = 'complete' AND p.participants @> '[{"kind": "human"}]' AND c.id > :after
    ORDER BY c.id LIMIT :limit
""")
_HOLD_OUT = sa.text("""
    INSERT INTO conversations.held_out_exchanges AS h (hash, in_chat, since, suffices)
    SELECT * FROM unnest(
        CAST(:hashes AS bigint[]), CAST(:in_chat AS bool[]), CAST(:since AS uuid[]), CAST(:suffices AS bool[])
    )
    ON CONFLICT (hash, in_chat) DO UPDATE
    SET suffices = h.suffices OR excluded.suffices, since = LEAST(h.since, excluded.since)
""")


def upgrade() -> None:
    op.add_column("corpora", sa.Column("owner", sa.String(length=100), nullable=True), schema=_SCHEMA)
    op.add_column(
        "corpora",
        sa.Column("visibility", sa.String(length=10), server_default="private", nullable=False),
        schema=_SCHEMA,
    )
    # Corpora were the operator's, and no team could read one. The sample lies in every copy of this project.
    op.execute(
        "UPDATE conversations.corpora SET visibility = 'shared' WHERE name = 'sample' AND licence = 'Apache-2.0'"
    )
    op.create_table(
        "held_out_exchanges",
        sa.Column("hash", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("in_chat", sa.Boolean(), nullable=False),
        sa.Column("since", sa.Uuid(), nullable=False),
        sa.Column("suffices", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("hash", "in_chat", name=op.f("pk_held_out_exchanges")),
        schema=_SCHEMA,
    )
    connection, after = op.get_bind(), UUID(int=0)
    while rows := connection.execute(_BY_PEOPLE, {"after": after, "limit": _CONVERSATIONS_AT_ONCE}).all():
        exchanges = held_out_exchanges(
            [PeoplesConversation(row.turns, row.id if row.mode == "human_bot" else ALWAYS) for row in rows]
        )
        values = {
            "hashes": [each.number for each in exchanges],
            "in_chat": [each.in_chat for each in exchanges],
            "since": [each.since for each in exchanges],
            "suffices": [each.suffices for each in exchanges],
        }
        connection.execute(_HOLD_OUT, values)
        after = rows[-1].id
