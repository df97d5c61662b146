"""What the service reads and claims in tables that have grown, and the plans that PostgreSQL makes for it."""

import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import event

from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.progress import store as progress_store
from spotthebot.conversations.searches import store as searches_store
from spotthebot.conversations.searches.domain import ConversationQuery
from spotthebot.conversations.turn_loop.store import claims as claims_store
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from tests.factories.grown_tables import RUNNER_JOB_ID, Grown

Read = Callable[[ReadSession, Grown], Awaitable[Any]]
Write = Callable[[WriteSession, Grown], Awaitable[Any]]

READS: Mapping[str, Read] = {
    "open collections in order": lambda session, _: claims_store.list_open(session),
    "whether runners are needed": lambda session, _: claims_store.count_waiting(session, limit=256 * 64),
    "the conversations of a runner": lambda session, _: conversations_store.list_claimed(session, RUNNER_JOB_ID),
    "the first page": lambda session, grown: conversations_store.list_conversations(
        session, grown.collection_id, after=None, limit=51
    ),
    "a page in the middle": lambda session, grown: conversations_store.list_conversations(
        session, grown.collection_id, after=grown.middle, limit=51
    ),
    "a page of speakers": lambda session, grown: conversations_store.list_speakers(
        session, grown.collection_id, after=grown.middle, limit=51
    ),
    "a page of a bot's conversations": lambda session, grown: conversations_store.list_conversations_of_bot(
        session, grown.bot_id, after=grown.middle, limit=51
    ),
    "a page of a search for a text": lambda session, grown: searches_store.find_conversations(
        session, grown.collection_id, ConversationQuery(text="never said"), after=grown.middle, limit=51, at_once=500
    ),
    "the neighbours of a conversation": lambda session, grown: searches_store.find_neighbours(
        session, grown.collection_id, ConversationQuery(), grown.middle
    ),
    "a page of pairs": lambda session, grown: progress_store.list_pairs(
        session, grown.collection_id, after=100, limit=11
    ),
    "a conversation": lambda session, grown: conversations_store.get_conversation(session, grown.middle),
    "the progress of a collection": lambda session, grown: collections_store.get_collection(
        session, grown.collection_id
    ),
    "why conversations failed": lambda session, grown: progress_store.list_failures(
        session, grown.collection_id, offset=0, limit=51
    ),
}
WRITES: Mapping[str, Write] = {
    "a claim": lambda session, grown: claims_store.claim(
        session, RUNNER_JOB_ID, grown.collection_id, limit=64, full=[]
    ),
    "a claim while a bot has no free slot": lambda session, grown: claims_store.claim(
        session, RUNNER_JOB_ID, grown.collection_id, limit=64, full=[grown.bot_id]
    ),
}
QUERIES: Mapping[str, Write] = {**READS, **WRITES}
"""All of them; a session that may write may read."""
COUNTS = {"whether runners are needed", "the progress of a collection", "why conversations failed"}
"""Queries that look at every conversation that waits or failed."""
_LARGE = {"turns", "conversations"}


async def list_plans(session: ReadSession, work: Callable[[], Awaitable[Any]]) -> list[dict[str, Any]]:
    """Return the plans of all statements that some work executes."""
    statements: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        statements.append((statement, parameters))

    connection = await session.connection()
    event.listen(connection.sync_connection, "before_cursor_execute", note)
    try:
        await work()
    finally:
        event.remove(connection.sync_connection, "before_cursor_execute", note)
    plans = []
    for statement, parameters in statements:
        explained = await connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
        plans.append(explained.scalar_one()[0]["Plan"])
    return plans


def scanned_tables(plans: list[dict[str, Any]]) -> set[str]:
    """Return the large tables that a plan reads from their first row to their last."""
    nodes = itertools.chain.from_iterable(map(_nodes, plans))
    return {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"} & _LARGE


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return itertools.chain([plan], *(_nodes(each) for each in plan.get("Plans", [])))
