"""Whose bots may learn from a corpus, and the exchanges of people's conversations that no bot may learn."""

from uuid import UUID

import sqlalchemy as sa
from alembic import op

from spotthebot.conversations.domain.held_out import held_out_exchanges

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
    ) AS turns
    FROM conversations.conversations AS c
    JOIN conversations.pairs AS p ON p.collection_id = c.collection_id AND p.number = c.pair
    WHERE c.state = 'complete' AND p.participants @> '[{"kind": "human"}]' AND c.id > :after
    ORDER BY c.id LIMIT :limit
""")
_HOLD_OUT = sa.text("""
    INSERT INTO conversations.held_out_exchanges (hash, suffices)
    SELECT * FROM unnest(CAST(:hashes AS bigint[]), CAST(:suffices AS bool[]))
    ON CONFLICT (hash) DO UPDATE SET suffices = held_out_exchanges.suffices OR excluded.suffices
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
        sa.Column("suffices", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_held_out_exchanges")),
        schema=_SCHEMA,
    )
    connection, after = op.get_bind(), UUID(int=0)
    while rows := connection.execute(_BY_PEOPLE, {"after": after, "limit": _CONVERSATIONS_AT_ONCE}).all():
        exchanges = held_out_exchanges([row.turns for row in rows])
        values = {"hashes": list(exchanges), "suffices": list(exchanges.values())}
        connection.execute(_HOLD_OUT, values)
        after = rows[-1].id
