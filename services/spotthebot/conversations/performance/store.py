"""A bot's performance: its conversations by state, its failures by reason, and its reply times.

No index holds the reply times. To read 200,000 replies among 400,000 turns takes 0.14 s of the database's processor
time. With an index on the times it would take 0.11 s, and each new turn would need an entry in the index.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import TextClause, text

from spotthebot.contracts.conversations.performance import BotPerformanceOut, FailureReasonOut, LatencyOut
from spotthebot.kit.database.sessions import ReadSession

MAX_REASONS: Final = 20
_SIDE: Final = (
    "jsonb_strip_nulls(jsonb_build_object('bot_id', CAST(:bot AS text), 'version', CAST(:version AS integer)))"
)
"""What a participant contains that is the bot, in the version if one is given."""


def _over_conversations(select: str) -> TextClause:
    """Return a statement that selects from the bot's conversations `c`; `is_first` and `is_second` tell its side."""
    return text(f"""
        WITH theirs AS (
            SELECT collection_id, number, participants -> 0 @> {_SIDE} AS is_first,
                participants -> 1 @> {_SIDE} AS is_second
            FROM conversations.pairs
            WHERE participants @> jsonb_build_array({_SIDE})
                AND (cardinality(CAST(:collections AS uuid[])) = 0 OR collection_id = ANY(:collections))
        ), held AS (
            SELECT c.id, c.collection_id, c.state, c.failure, c.turns_said, p.is_first, p.is_second
            FROM theirs AS p
            JOIN conversations.conversations AS c ON c.collection_id = p.collection_id AND c.pair = p.number
        )
        {select}
    """)  # noqa: S608 - constant statements


_BY_STATE: Final = _over_conversations("SELECT state, count(*) AS conversations FROM held GROUP BY state")
_COLLECTIONS: Final = _over_conversations("""
    SELECT count(*) FROM (
        SELECT collection_id FROM theirs UNION
        SELECT id FROM conversations.collections
        WHERE CAST(:bot AS uuid) = ANY(bots) AND CAST(:version AS integer) IS NULL
            AND (cardinality(CAST(:collections AS uuid[])) = 0 OR id = ANY(:collections))
    ) AS named
""")
_FAILURES: Final = _over_conversations("""
    SELECT COALESCE(failure, '') AS reason, count(*) AS conversations, sum(count(*)) OVER () AS failed FROM held
    WHERE state = 'failed' AND CASE turns_said % 2 WHEN 0 THEN is_first ELSE is_second END
    GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :most
""")
_LATENCIES: Final = _over_conversations("""
    SELECT count(*) AS replies, max(t.latency_ms) AS longest,
        percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY t.latency_ms) AS percentiles
    FROM held JOIN conversations.turns AS t ON t.conversation_id = held.id
    WHERE t.latency_ms IS NOT NULL AND CASE t.position % 2 WHEN 0 THEN is_first ELSE is_second END
""")


async def get_performance(
    session: ReadSession, bot_id: UUID, collections: Sequence[UUID], version: int | None
) -> BotPerformanceOut:
    """Return a bot's performance in these collections, or in all if none are given; of one version, or of all."""
    values = {"bot": str(bot_id), "collections": list(collections), "version": version}
    states = (await session.execute(_BY_STATE, values)).all()
    failures = (await session.execute(_FAILURES, {**values, "most": MAX_REASONS})).all()
    times = (await session.execute(_LATENCIES, values)).one()
    return BotPerformanceOut(
        collections=await session.scalar(_COLLECTIONS, values) or 0,
        conversations={row.state: row.conversations for row in states},
        failed=int(failures[0].failed) if failures else 0,
        failures=tuple(FailureReasonOut.of(row) for row in failures),
        replies=times.replies,
        latency=_latency(times.percentiles, times.longest) if times.replies else None,
    )


def _latency(percentiles: Sequence[float], longest: float) -> LatencyOut:
    """Round to microseconds, the resolution of the measurement."""
    median, p95 = percentiles
    return LatencyOut(median_ms=round(median, 3), p95_ms=round(p95, 3), longest_ms=round(longest, 3))
