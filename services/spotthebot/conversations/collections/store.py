"""The only SQL over collections: their plans, states, counts, rates, and the participants of pairs.

SQL conditions on states are made from the domain's tables of transitions, so that no rule about states stands only in
SQL. They are constants, not parameters, so that PostgreSQL uses partial indexes for them.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.contracts.conversations.ids import CollectionId
from spotthebot.conversations.collections import domain
from spotthebot.conversations.collections.domain import (
    COMPLETE,
    ENDED,
    OPEN,
    REQUESTS_TURNS,
    ExportSource,
    states_before,
)
from spotthebot.conversations.collections.errors import NoSuchCollection
from spotthebot.conversations.collections.tables import CollectionRow, PairRow
from spotthebot.kit.database.retention import KeptRows
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id
from spotthebot.kit.telemetry.tracing import stored_trace

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
    """Return collections, optionally only collections with this `name`, or with one of these `bots`."""
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


async def change_settings(session: WriteSession, collection_id: UUID, changes: Mapping[str, Any]) -> None:
    await session.execute(update(CollectionRow).where(CollectionRow.id == collection_id).values(**changes))


async def change_state(session: WriteSession, ids: Collection[UUID], state: CollectionState) -> list[UUID]:
    """Change the state of the collections that may change to `state`; return their ids."""
    row = CollectionRow
    values = {"state": state} | ({"finished_at": func.now()} if state in ENDED else {})
    changed = await session.scalars(
        update(row).where(row.id.in_(ids), row.state.in_(sorted(states_before(state)))).values(values).returning(row.id)
    )
    return list(changed)


async def complete_ended(session: WriteSession) -> list[UUID]:
    """Complete open collections whose last conversation has ended; return their ids."""
    ended = await session.scalars(
        text(f"""
            SELECT c.id FROM conversations.collections AS c WHERE {is_complete_now("c")}
            ORDER BY c.id FOR NO KEY UPDATE
        """)  # noqa: S608 - a constant condition
    )
    ids = list(ended)
    return await change_state(session, ids, COMPLETE) if ids else []


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


async def _list_collections(session: ReadSession, statement: Select[CollectionRow]) -> list[domain.Collection]:
    rows = (await session.scalars(statement)).all()
    rates, waiting = await _rates(session, rows), await _count_waiting(session, rows)
    return [
        from_row(
            domain.Collection,
            row,
            state=CollectionState(row.state),
            waiting=waiting.get(row.id, 0),
            rate_turns_per_second=rates.get(row.id),
        )
        for row in rows
    ]


async def _rates(session: ReadSession, rows: Sequence[CollectionRow]) -> dict[UUID, float]:
    running = [row.id for row in rows if row.state in REQUESTS_TURNS]
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
    """Count the conversations that wait for unavailable bots, with one look-up in an index for each bot."""
    running = [row.id for row in rows if row.state in OPEN]
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


def takes_part(bot_id: UUID) -> ColumnElement[bool]:
    """Return the condition that a bot is a side of a pair; an index serves it."""
    return PairRow.participants.contains([{"bot_id": str(bot_id)}])


def is_called(name: str) -> ColumnElement[bool]:
    """Return the condition that a side of a pair has this name in results; all people have the name HU."""
    return PairRow.participants.contains([{"name": name}])


def is_one_of(column: str, states: Collection[StrEnum]) -> str:
    """Return the condition that a column is one of these states."""
    listed = [f"'{state}'" for state in sorted(states)]
    return f"{column} = {listed[0]}" if len(listed) == 1 else f"{column} IN ({', '.join(listed)})"


def requests_turns(alias: str) -> str:
    """Return the condition that runners request turns for a collection."""
    return is_one_of(f"{alias}.state", REQUESTS_TURNS)


def is_complete_now(alias: str) -> str:
    """Return the condition that all conversations of an open collection have ended; never true for human-bot."""
    may_complete = is_one_of(f"{alias}.state", states_before(COMPLETE))
    ended = f"{alias}.complete + {alias}.failed + {alias}.cancelled >= {alias}.conversations"
    return f"{may_complete} AND {alias}.mode <> 'human_bot' AND {ended}"


async def get_source(session: ReadSession, collection_id: UUID) -> ExportSource:
    """Return a collection with the fields that its export needs; raises NoSuchCollection."""
    row = await session.get(CollectionRow, collection_id)
    if row is None:
        raise NoSuchCollection(collection_id=collection_id)
    return from_row(
        ExportSource, row, held_as=row.plan.get("held_as"), is_cancelled=row.state == CollectionState.CANCELLED
    )


def old_turn_counts(days: int) -> KeptRows:
    """Return which rows to delete: old counts of turns in ten seconds, from which rates are computed."""
    return KeptRows("turn_counts", "begins_at < :before", timedelta(days=days))
