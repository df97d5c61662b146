"""The only SQL over collections: their plans, states, counts and rates."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.conversations import CollectionId, CollectionState
from spotthebot.conversations.domain import collections as domain
from spotthebot.conversations.domain.collections import FailureReason, PairProgress
from spotthebot.conversations.domain.errors import NoSuchCollection
from spotthebot.conversations.store.pairs import takes_part
from spotthebot.conversations.store.states import is_complete_now
from spotthebot.conversations.tables import CollectionRow, PairRow
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id
from spotthebot.kit.tracing import stored_trace

RATE_OVER_SECONDS = 60


async def add_collection(
    session: WriteSession,
    *,
    name: str,
    domain: str,
    mode: str,
    plan: dict[str, Any],
    state: CollectionState,
    bots: Sequence[UUID] = (),
    priority: int = 0,
) -> CollectionId:
    collection_id = new_id()
    await session.execute(
        insert(CollectionRow).values(
            id=collection_id,
            name=name,
            domain=domain,
            mode=mode,
            plan=plan,
            state=state,
            bots=list(bots),
            priority=priority,
            trace=stored_trace(),
        )
    )
    return CollectionId(collection_id)


async def get_collection(session: ReadSession, collection_id: UUID) -> domain.Collection:
    collections = await _list_collections(session, select(CollectionRow).where(CollectionRow.id == collection_id))
    if not collections:
        raise NoSuchCollection(collection_id=collection_id)
    return collections[0]


async def get_names(session: ReadSession, ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names of collections by their ids."""
    found = await session.execute(select(CollectionRow.id, CollectionRow.name).where(CollectionRow.id.in_(ids)))
    return {row.id: row.name for row in found}


async def list_collections(
    session: ReadSession,
    *,
    name: str | None,
    bots: Sequence[UUID] = (),
    newest_first: bool = False,
    after: UUID | None,
    limit: int,
) -> list[domain.Collection]:
    """Return collections: of this `name`, and with one of these `bots`, where given."""
    order = CollectionRow.id.desc() if newest_first else CollectionRow.id
    statement = select(CollectionRow).order_by(order).limit(limit)
    if name is not None:
        statement = statement.where(CollectionRow.name == name)
    if bots:
        theirs = select(PairRow.collection_id).where(or_(*map(takes_part, bots)))
        statement = statement.where(CollectionRow.id.in_(theirs))
    if after is not None:
        statement = statement.where(CollectionRow.id < after if newest_first else CollectionRow.id > after)
    return await _list_collections(session, statement)


async def lock_collection(session: WriteSession, collection_id: UUID) -> CollectionState:
    """Lock a collection until this transaction ends, and return its state."""
    statement = select(CollectionRow.state).where(CollectionRow.id == collection_id)
    state = await session.scalar(statement.with_for_update(key_share=True))
    if state is None:
        raise NoSuchCollection(collection_id=collection_id)
    return CollectionState(state)


async def change_priority(session: WriteSession, collection_id: UUID, priority: int) -> None:
    await session.execute(update(CollectionRow).where(CollectionRow.id == collection_id).values(priority=priority))


async def change_state(session: WriteSession, ids: Collection[UUID], state: CollectionState) -> list[UUID]:
    """Change the state of those collections that may come to `state`; returns which ones that are."""
    row = CollectionRow
    values = {"state": state} | ({"finished_at": func.now()} if state in domain.ENDED else {})
    changed = await session.scalars(
        update(row)
        .where(row.id.in_(ids), row.state.in_(sorted(domain.states_before(state))))
        .values(values)
        .returning(row.id)
    )
    return list(changed)


async def complete_ended(session: WriteSession) -> list[UUID]:
    """Complete open collections whose last conversation has ended; returns which ones that are."""
    ended = await session.scalars(
        text(f"""
            SELECT c.id FROM conversations.collections AS c WHERE {is_complete_now("c")}
            ORDER BY c.id FOR NO KEY UPDATE
        """)  # noqa: S608 - a constant condition
    )
    ids = list(ended)
    return await change_state(session, ids, domain.COMPLETE) if ids else []


async def count_in(
    session: WriteSession,
    collection_id: UUID,
    *,
    conversations: int = 0,
    complete: int = 0,
    failed: int = 0,
    cancelled: int = 0,
    turns: int = 0,
    turns_planned: int = 0,
) -> None:
    """Add to a collection's counts."""
    row = CollectionRow
    await session.execute(
        update(row)
        .where(row.id == collection_id)
        .values(
            conversations=row.conversations + conversations,
            complete=row.complete + complete,
            failed=row.failed + failed,
            cancelled=row.cancelled + cancelled,
            turns=row.turns + turns,
            turns_planned=row.turns_planned + turns_planned,
        )
    )


async def cancel_conversations(session: WriteSession, collection_id: UUID) -> int:
    """End all conversations that still run; a turn that is on its way finds them ended. Returns how many."""
    # Locked first, in the order in which batches of turns lock them, so that neither deadlocks with the other.
    await session.execute(
        text("""
            SELECT count(*) FROM (
                SELECT FROM conversations.conversations
                WHERE collection_id = :collection AND state = 'running' ORDER BY id FOR UPDATE
            ) AS locked
        """),
        {"collection": collection_id},
    )
    cancelled = await session.scalar(
        text("""
            WITH cancelled AS (
                UPDATE conversations.conversations
                SET state = 'cancelled', runner_job_id = NULL, next_bot = NULL,
                    failure = 'The collection was cancelled.'
                WHERE collection_id = :collection AND state = 'running' RETURNING id
            )
            SELECT count(*) FROM cancelled
        """),
        {"collection": collection_id},
    )
    return int(cancelled or 0)


async def list_pairs(session: ReadSession, collection_id: UUID, *, after: int, limit: int) -> list[PairProgress]:
    """Return pairs with a number above `after`, with their conversations by state."""
    rows = await session.execute(
        text("""
            SELECT p.number, p.participants -> 0 ->> 'name' AS first, p.participants -> 1 ->> 'name' AS second, n.states
            FROM conversations.pairs AS p, LATERAL (
                SELECT COALESCE(jsonb_object_agg(state, number), '{}') AS states
                FROM (
                    SELECT state, count(*) AS number FROM conversations.conversations
                    WHERE collection_id = p.collection_id AND pair = p.number GROUP BY state
                ) AS by_state
            ) AS n
            WHERE p.collection_id = :collection AND p.number > :after ORDER BY p.number LIMIT :limit
        """),
        {"collection": collection_id, "after": after, "limit": limit},
    )
    return [
        PairProgress(number=row.number, participants=(row.first, row.second), conversations=row.states) for row in rows
    ]


async def list_failures(session: ReadSession, collection_id: UUID, *, offset: int, limit: int) -> list[FailureReason]:
    """Return why conversations failed, or wait for an unavailable bot, the most frequent reasons first."""
    rows = await session.execute(
        text("""
            SELECT c.state AS state, c.failure AS reason, p.participants -> (c.turns_said % 2) ->> 'name' AS bot,
                count(*) AS number, CAST(NULL AS timestamptz) AS since
            FROM conversations.conversations AS c
            JOIN conversations.pairs AS p ON p.collection_id = c.collection_id AND p.number = c.pair
            WHERE c.collection_id = :collection AND c.state = 'failed' GROUP BY 1, 2, 3
            UNION ALL
            SELECT 'waiting', a.reason, a.name, c.waiting, a.since
            FROM conversations.unavailable_bots AS a, LATERAL (
                SELECT count(*) AS waiting FROM conversations.conversations
                WHERE collection_id = :collection AND next_bot = a.bot_id AND state = 'running'
                    AND runner_job_id IS NULL
            ) AS c
            WHERE c.waiting > 0
            ORDER BY number DESC, bot, reason LIMIT :limit OFFSET :offset
        """),
        {"collection": collection_id, "limit": limit, "offset": offset},
    )
    return [
        FailureReason(state=row.state, reason=row.reason or "", bot=row.bot, conversations=row.number, since=row.since)
        for row in rows
    ]


async def _list_collections(session: ReadSession, statement: Select[CollectionRow]) -> list[domain.Collection]:
    rows = (await session.scalars(statement)).all()
    rates, waiting = await _rates(session, rows), await _count_waiting(session, rows)
    return [
        domain.Collection(
            id=CollectionId(row.id),
            name=row.name,
            domain=row.domain,
            mode=row.mode,
            state=CollectionState(row.state),
            priority=row.priority,
            conversations=row.conversations,
            complete=row.complete,
            failed=row.failed,
            cancelled=row.cancelled,
            waiting=waiting.get(row.id, 0),
            turns=row.turns,
            turns_planned=row.turns_planned,
            rate_turns_per_second=rates.get(row.id),
            created_at=row.created_at,
            finished_at=row.finished_at,
            trace=row.trace,
        )
        for row in rows
    ]


async def _rates(session: ReadSession, rows: Sequence[CollectionRow]) -> dict[UUID, float]:
    running = [row.id for row in rows if row.state in domain.REQUESTS_TURNS]
    if not running:
        return {}
    found = await session.execute(
        text("""
            SELECT collection_id, sum(turns)
                / GREATEST(EXTRACT(EPOCH FROM clock_timestamp() - min(begins_at)), 1) AS rate
            FROM conversations.turn_counts
            WHERE collection_id = ANY(:ids) AND begins_at > now() - make_interval(secs => :seconds)
            GROUP BY collection_id
        """),
        {"ids": running, "seconds": RATE_OVER_SECONDS},
    )
    return {row.collection_id: float(row.rate) for row in found}


async def _count_waiting(session: ReadSession, rows: Sequence[CollectionRow]) -> dict[UUID, int]:
    """Count conversations that wait for unavailable bots: one look-up in an index for each bot."""
    running = [row.id for row in rows if row.state in domain.OPEN]
    if not running:
        return {}
    found = await session.execute(
        text("""
            SELECT n.id AS collection_id, sum(c.waiting)::int AS waiting
            FROM unnest(CAST(:ids AS uuid[])) AS n (id), conversations.unavailable_bots AS a, LATERAL (
                SELECT count(*) AS waiting FROM conversations.conversations
                WHERE collection_id = n.id AND next_bot = a.bot_id AND state = 'running' AND runner_job_id IS NULL
            ) AS c
            GROUP BY n.id
        """),
        {"ids": running},
    )
    return {row.collection_id: row.waiting for row in found}
