"""The tables of `conversations` as a bipartite collection of the published size leaves them, loaded in seconds.

Targets and partners are as many as in Sato et al. 2022 (11 x 24). Most conversations are complete, some stand in the
middle, some wait for their first turn; ids grow in the order of the plan, as those that the service makes.
"""

from dataclasses import dataclass
from uuid import UUID

import psycopg

TARGETS, PARTNERS = 11, 24
TURNS_EACH = 10
RUNNER_JOB_ID = 7
"""The number of a runner's job."""
_CLAIMED_EACH, _FAILED_EACH = 320, 4

_BOTS = f"""
    CREATE TEMPORARY TABLE grown_bots AS
    SELECT number, (CASE WHEN number < {TARGETS} THEN 'target-' ELSE 'partner-' END) || number AS name,
        gen_random_uuid() AS id
    FROM generate_series(0, {TARGETS + PARTNERS - 1}) AS number
"""  # noqa: S608 - constants
_COLLECTION = """
    INSERT INTO conversations.collections (
        id, name, domain, mode, plan, state, bots, conversations, complete, failed, turns, turns_planned
    ) SELECT %(id)s, 'grown', 'everyday', 'bipartite', '{}', 'collecting', array_agg(id), %(all)s, %(complete)s,
        %(failed)s, %(turns)s, %(planned)s
    FROM grown_bots
"""
_PAIRS = f"""
    INSERT INTO conversations.pairs (collection_id, number, participants)
    SELECT %(id)s, row_number() OVER (ORDER BY turned, a.number, b.number) - 1, CASE WHEN turned
        THEN jsonb_build_array(b.side, a.side) ELSE jsonb_build_array(a.side, b.side) END
    FROM (SELECT *, jsonb_build_object('kind', 'bot', 'name', name, 'bot_id', id, 'version', 1,
            'configuration_sha256', repeat('0', 64), 'system', NULL) AS side FROM grown_bots) AS a,
        (SELECT *, jsonb_build_object('kind', 'bot', 'name', name, 'bot_id', id, 'version', 1,
            'configuration_sha256', repeat('0', 64), 'system', NULL) AS side FROM grown_bots) AS b,
        (VALUES (false), (true)) AS orders (turned)
    WHERE a.number < {TARGETS} AND b.number >= {TARGETS}
"""  # noqa: S608 - constants
# 01a1fdd2-...: as UUIDs of version 7 begin. Said so far: all, five, or nothing.
_CONVERSATIONS = f"""
    INSERT INTO conversations.conversations (
        id, collection_id, pair, round, state, ended_by, failure, opening, opening_shown, turns_planned, turns_said,
        seed, next_bot, runner_job_id
    )
    SELECT (%(prefix)s || lpad(to_hex(n), 12, '0'))::uuid, %(id)s, n %% pairs, n / pairs,
        CASE WHEN said = {TURNS_EACH} THEN 'complete' WHEN failed THEN 'failed' ELSE 'running' END,
        CASE WHEN said = {TURNS_EACH} THEN 'exchanges' END, CASE WHEN failed THEN 'timeout: No reply within 30 s.' END,
        ARRAY['Hello! How are you today?', 'I am fine, thank you. I went for a walk.'], false, {TURNS_EACH}, said, n,
        CASE WHEN said < {TURNS_EACH} AND NOT failed THEN (participants -> (said %% 2) ->> 'bot_id')::uuid END,
        CASE WHEN said = 5 AND NOT failed AND n %% {_CLAIMED_EACH} = 0 THEN {RUNNER_JOB_ID} END
    FROM (
        SELECT n, {2 * TARGETS * PARTNERS} AS pairs,
            n BETWEEN %(complete)s AND %(started)s - 1 AND n %% {_FAILED_EACH} = 1 AS failed,
            CASE WHEN n < %(complete)s THEN {TURNS_EACH} WHEN n < %(started)s THEN 5 ELSE 0 END AS said
        FROM generate_series(0, %(all)s - 1) AS n
    ) AS planned
    JOIN conversations.pairs AS p ON p.collection_id = %(id)s AND p.number = n %% pairs
"""  # noqa: S608 - constants
_UNAVAILABLE = f"""
    INSERT INTO conversations.unavailable_bots (bot_id, name, reason)
    SELECT id, name, 'timeout: No reply within 30 s.' FROM grown_bots WHERE number = {TARGETS + PARTNERS - 1}
"""  # noqa: S608 - constants
_TURNS = """
    INSERT INTO conversations.turns (conversation_id, position, text, latency_ms, said_at)
    SELECT id, position, 'I went to the market and bought ' || seed %% 97 || ' melons. Do you like melons, too?',
        500 + position, now()
    FROM conversations.conversations, generate_series(0, turns_said - 1) AS position
    WHERE collection_id = %(id)s
"""


@dataclass(frozen=True)
class Grown:
    """What was loaded: a collection, a bot of it, and a conversation in the middle."""

    collection_id: UUID
    bot_id: UUID
    middle: UUID
    conversations: int
    turns: int


def grow(admin_url: str, turns: int) -> Grown:
    """Load about so many turns of one collection; as superuser, for only that may leave out checks row by row."""
    collection_id = UUID(int=0x01A1FDD200007000A000000000000001)
    complete = turns * 95 // 100 // TURNS_EACH
    started = complete + turns * 5 // 100 // 5
    everything = started * 115 // 100
    values = {
        "id": collection_id,
        "prefix": "01a1fdd2-0000-7000-b000-",
        "complete": complete,
        "started": started,
        "all": everything,
        "failed": sum(number % _FAILED_EACH == 1 for number in range(complete, started)),
        "turns": complete * TURNS_EACH + (started - complete) * 5,
        "planned": everything * TURNS_EACH,
    }
    with psycopg.connect(admin_url) as connection:
        connection.execute("SET session_replication_role = replica")
        for statement in (_BOTS, _COLLECTION, _PAIRS, _CONVERSATIONS, _TURNS, _UNAVAILABLE):
            connection.execute(statement, values)
        bot_id = connection.execute("SELECT id FROM grown_bots WHERE number = 0").fetchone()
    with psycopg.connect(admin_url, autocommit=True) as connection:  # as autovacuum does sooner or later
        connection.execute("VACUUM ANALYZE conversations.conversations, conversations.turns, conversations.pairs")
    if bot_id is None:
        message = "no bot was made"
        raise LookupError(message)
    middle = UUID(f"{values['prefix']}{complete // 2:012x}")
    return Grown(collection_id, bot_id[0], middle, everything, int(str(values["turns"])))
