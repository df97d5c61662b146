"""The only SQL that writes turns. A batch of steps is committed completely, or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import COMPLETE
from spotthebot.conversations.conversations.domain import Step
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.corpora.domain.held_out import PeoplesConversation
from spotthebot.kit.database.sessions import WriteSession


@dataclass(frozen=True)
class CommittedSteps:
    """The conversations with a committed step, and the states of their collections.

    `finished` names collections whose last conversation ended with this batch.
    """

    conversations: frozenset[UUID]
    collections: dict[UUID, CollectionState]
    finished: frozenset[UUID]


async def commit_steps(session: WriteSession, steps: Sequence[Step]) -> CommittedSteps:
    """Write each step, unless another process added a turn to its conversation or ended it meanwhile.

    A step is written only if the conversation still has the number of turns that it had before the step. If two runners
    request the same turn, only one runner can add it. So no turn is doubled, lost or out of order.
    """
    kept = await _advance(session, steps)
    done = [each for each in steps if each.after.id in kept]
    await _add_turns(session, [each for each in done if each.text is not None])
    collections, finished = await _count(session, done)
    with_people = [
        each.after for each in done if each.after.state is ConversationState.COMPLETE and each.after.has_person
    ]
    if with_people:
        await corpora_store.hold_out(
            session, [PeoplesConversation(each.history, since=each.id) for each in with_people]
        )
    return CommittedSteps(kept, collections, finished)


async def _advance(session: WriteSession, steps: Sequence[Step]) -> frozenset[UUID]:
    rows = await session.execute(
        text("""
            WITH step AS (
                SELECT * FROM unnest(
                    CAST(:ids AS uuid[]), CAST(:before AS int[]), CAST(:after AS int[]), CAST(:states AS text[]),
                    CAST(:endings AS text[]), CAST(:failures AS text[]), CAST(:attempts AS int[]),
                    CAST(:waits AS float8[]), CAST(:next_bots AS uuid[]), CAST(:released AS bool[])
                ) AS s (id, before, after, state, ended_by, failure, attempts, wait, next_bot, released)
            ), locked AS (
                SELECT c.id FROM conversations.conversations AS c JOIN step ON step.id = c.id
                WHERE c.state = 'running' AND c.turns_said = step.before ORDER BY c.id FOR UPDATE OF c
            )
            UPDATE conversations.conversations AS c SET
                turns_said = step.after, state = step.state, ended_by = step.ended_by, failure = step.failure,
                attempts = step.attempts, not_before = now() + make_interval(secs => step.wait),
                next_bot = CASE WHEN step.released THEN step.next_bot ELSE c.next_bot END,
                runner_job_id = CASE WHEN step.released THEN NULL ELSE c.runner_job_id END
            FROM step, locked
            WHERE c.id = step.id AND locked.id = c.id
            RETURNING c.id
        """),
        {
            "ids": [each.after.id for each in steps],
            "before": [len(each.before.turns) for each in steps],
            "after": [len(each.after.turns) for each in steps],
            "states": [each.after.state.value for each in steps],
            "endings": [each.after.ended_by for each in steps],
            "failures": [each.after.failure for each in steps],
            "attempts": [each.after.attempts for each in steps],
            "waits": [each.wait_seconds for each in steps],
            "next_bots": [each.after.next_bot for each in steps],
            "released": [each.is_released for each in steps],
        },
    )
    return frozenset(rows.scalars())


async def _add_turns(session: WriteSession, steps: Sequence[Step]) -> None:
    if not steps:
        return
    await session.execute(
        text("""
            INSERT INTO conversations.turns (conversation_id, position, text, raw, latency_ms, said_at)
            SELECT s.*, now() FROM unnest(
                CAST(:ids AS uuid[]), CAST(:positions AS int[]), CAST(:texts AS text[]), CAST(:raws AS text[]),
                CAST(:latencies AS float8[])
            ) AS s
        """),
        {
            "ids": [each.after.id for each in steps],
            "positions": [len(each.before.turns) for each in steps],
            "texts": [each.text for each in steps],
            "raws": [each.raw for each in steps],
            "latencies": [each.latency_ms for each in steps],
        },
    )


async def _count(session: WriteSession, steps: Sequence[Step]) -> tuple[dict[UUID, CollectionState], frozenset[UUID]]:
    """Add the steps to the counts of their collections. A collection whose last conversation ends is completed."""
    collections = sorted({each.after.collection_id for each in steps})
    if not collections:
        return {}, frozenset()

    if len(collections) > 1:
        # In one order, lest two batches deadlock; in a statement of its own, so that the next one sees the rows as they
        # are once they are locked.
        await session.execute(
            text("SELECT FROM conversations.collections WHERE id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE"),
            {"ids": collections},
        )

    def count(collection: UUID, state: ConversationState) -> int:
        return sum(each.after.collection_id == collection and each.after.state is state for each in steps)

    said = [
        sum(each.after.collection_id == collection and each.text is not None for each in steps)
        for collection in collections
    ]
    rows = await session.execute(
        text(f"""
            WITH batch AS (
                SELECT * FROM unnest(
                    CAST(:ids AS uuid[]), CAST(:complete AS int[]), CAST(:failed AS int[]), CAST(:turns AS int[])
                ) AS b (id, complete, failed, turns)
            ), turn_count AS (
                INSERT INTO conversations.turn_counts (collection_id, begins_at, turns)
                SELECT id, date_bin('10 seconds', now(), TIMESTAMPTZ '2000-01-01'), turns FROM batch WHERE turns > 0
                ON CONFLICT (collection_id, begins_at) DO UPDATE SET turns = turn_counts.turns + excluded.turns
            )
            UPDATE conversations.collections AS c SET
                complete = c.complete + batch.complete, failed = c.failed + batch.failed, turns = c.turns + batch.turns
            FROM batch WHERE c.id = batch.id
            RETURNING c.id, c.state, {collections_store.is_complete_now("c")} AS is_complete_now
        """),  # noqa: S608 - a constant condition
        {
            "ids": collections,
            "complete": [count(each, ConversationState.COMPLETE) for each in collections],
            "failed": [count(each, ConversationState.FAILED) for each in collections],
            "turns": said,
        },
    )
    states = {row.id: (CollectionState(row.state), row.is_complete_now) for row in rows}
    finished = frozenset(each for each, (_, is_complete) in states.items() if is_complete)
    if finished:
        await collections_store.change_state(session, finished, COMPLETE)
    return {each: COMPLETE if each in finished else state for each, (state, _) in states.items()}, finished
