"""The only SQL that searches a collection's conversations by speakers, outcome and words.

Texts have no index, because it would cost an entry for every turn. So a search reads a limited number of conversations,
and says where it stopped.

To read 5,000 conversations of 20 turns takes 0.2 s on two busy cores.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, func, or_, select

from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.tables import PairRow
from spotthebot.conversations.conversations.tables import ConversationRow, TurnRow
from spotthebot.conversations.quality.store import flags as flags_store
from spotthebot.conversations.quality.tables import QualityFlagsRow
from spotthebot.conversations.searches.domain import SEARCHED_AT_ONCE, ConversationQuery
from spotthebot.kit.database.sessions import ReadSession


async def find_conversations(
    session: ReadSession,
    collection_id: UUID,
    query: ConversationQuery,
    *,
    after: UUID | None,
    limit: int,
    at_once: int = SEARCHED_AT_ONCE,
) -> tuple[list[UUID], UUID | None]:
    """Return found conversations in the order of the plan, and the last conversation read if the search stopped early.

    At most `at_once` conversations are read.
    """
    candidates = _candidates(collection_id, query).order_by(ConversationRow.id)
    if after is not None:
        candidates = candidates.where(ConversationRow.id > after)
    if query.text is None:
        return [*await session.scalars(candidates.limit(limit))], None
    window = candidates.limit(at_once)
    found = [*await session.scalars(_saying(query.spellings, window).order_by(ConversationRow.id).limit(limit))]
    if len(found) == limit:
        return found, None
    return found, await session.scalar(candidates.offset(at_once - 1).limit(1))


async def find_neighbours(
    session: ReadSession, collection_id: UUID, query: ConversationQuery, conversation_id: UUID
) -> tuple[UUID | None, UUID | None]:
    """Return the results of a search that come before and after a conversation, which need not be a result itself."""
    row, candidates = ConversationRow, _candidates(collection_id, query)
    before = candidates.where(row.id < conversation_id).order_by(row.id.desc())
    after = candidates.where(row.id > conversation_id).order_by(row.id)
    if query.text is not None:
        before = _saying(query.spellings, before.limit(SEARCHED_AT_ONCE)).order_by(row.id.desc())
        after = _saying(query.spellings, after.limit(SEARCHED_AT_ONCE)).order_by(row.id)
    return await session.scalar(before.limit(1)), await session.scalar(after.limit(1))


def _candidates(collection_id: UUID, query: ConversationQuery) -> Select[UUID]:
    row = ConversationRow
    conditions: list[ColumnElement[bool]] = [row.collection_id == collection_id]
    if query.participant is not None:
        theirs = select(PairRow.number).where(
            PairRow.collection_id == collection_id, collections_store.is_called(query.participant)
        )
        conditions.append(row.pair.in_(theirs))
    if query.state is not None:
        conditions.append(row.state == query.state)
    if query.ended_by is not None:
        conditions.append(row.ended_by == query.ended_by)
    if query.min_turns is not None:
        conditions.append(row.turns_said >= query.min_turns)
    if query.max_turns is not None:
        conditions.append(row.turns_said <= query.max_turns)
    if query.flag is not None:
        flagged = select(QualityFlagsRow.conversation_id).where(
            QualityFlagsRow.conversation_id == row.id, flags_store.has_flag(query.flag)
        )
        conditions.append(flagged.exists())
    return select(row.id).where(*conditions)


def _saying(spellings: Sequence[str], candidates: Select[Any]) -> Select[UUID]:
    def holds(said: SQLColumnExpression[str]) -> ColumnElement[bool]:
        return or_(*(said.icontains(each, autoescape=True) for each in spellings))

    window = candidates.subquery()
    turns = select(TurnRow.position).where(TurnRow.conversation_id == ConversationRow.id, holds(TurnRow.text))
    opening = func.array_to_string(ConversationRow.opening, "\n")
    return (
        select(ConversationRow.id)
        .join(window, window.c.id == ConversationRow.id)
        .where(or_(turns.exists(), holds(opening)))
    )
