"""Who speaks is in the pairs only; rows that the release before pairs wrote meanwhile get theirs."""

import sqlalchemy as sa
from alembic import op

revision = "conversations_0011"
down_revision = "conversations_0010"
branch_labels = None
depends_on = None

_SCHEMA = "conversations"


def upgrade() -> None:
    columns = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("conversations", schema=_SCHEMA)}
    if "participants" not in columns:  # revision 0003 dropped it before 0.1.0
        return
    _pair_late_conversations()
    op.alter_column("collections", "state", server_default=None, schema=_SCHEMA)
    op.alter_column("conversations", "pair", nullable=False, schema=_SCHEMA)
    op.alter_column("conversations", "round", server_default=None, schema=_SCHEMA)
    op.drop_index("ix_conversations_participants", "conversations", schema=_SCHEMA)
    op.drop_index("ix_conversations_collection_id_state_id", "conversations", schema=_SCHEMA)
    op.drop_column("conversations", "participants", schema=_SCHEMA)


def _pair_late_conversations() -> None:
    for statement in (
        """
        INSERT INTO conversations.pairs (collection_id, number, participants)
        SELECT c.collection_id,
            COALESCE((SELECT max(number) + 1 FROM conversations.pairs WHERE collection_id = c.collection_id), 0)
                + row_number() OVER (PARTITION BY c.collection_id ORDER BY min(c.id::text)) - 1,
            c.participants
        FROM conversations.conversations AS c
        WHERE c.pair IS NULL AND NOT EXISTS (
            SELECT FROM conversations.pairs AS p
            WHERE p.collection_id = c.collection_id AND p.participants = c.participants
        )
        GROUP BY c.collection_id, c.participants
        """,
        """
        UPDATE conversations.conversations AS c SET
            pair = p.number, turns_said = n.turns,
            ended_by = CASE WHEN c.state = 'complete' THEN 'exchanges' END,
            next_bot = CASE WHEN c.state = 'running'
                THEN (c.participants -> (n.turns::int % 2) ->> 'bot_id')::uuid END
        FROM conversations.pairs AS p, (
            SELECT id, (SELECT count(*) FROM conversations.turns WHERE conversation_id = late.id) AS turns
            FROM conversations.conversations AS late WHERE pair IS NULL
        ) AS n
        WHERE p.collection_id = c.collection_id AND p.participants = c.participants AND n.id = c.id
        """,
        """
        UPDATE conversations.collections AS c SET
            conversations = n.conversations, complete = n.complete, failed = n.failed, turns = n.turns,
            turns_planned = n.turns_planned, state = CASE WHEN n.running > 0 THEN 'collecting' ELSE 'complete' END,
            finished_at = CASE WHEN n.running > 0 THEN NULL ELSE c.created_at END,
            bots = COALESCE((
                SELECT array_agg(DISTINCT (side ->> 'bot_id')::uuid)
                FROM conversations.pairs, jsonb_array_elements(participants) AS side
                WHERE collection_id = c.id AND side ->> 'bot_id' IS NOT NULL
            ), '{}')
        FROM (
            SELECT collection_id, count(*) AS conversations, sum(turns_planned) AS turns_planned,
                count(*) FILTER (WHERE state = 'complete') AS complete,
                count(*) FILTER (WHERE state = 'failed') AS failed,
                count(*) FILTER (WHERE state = 'running') AS running, sum(turns_said) AS turns
            FROM conversations.conversations GROUP BY collection_id
        ) AS n
        WHERE n.collection_id = c.id AND n.conversations <> c.conversations
        """,
    ):
        op.execute(statement)
