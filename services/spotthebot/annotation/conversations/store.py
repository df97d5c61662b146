"""The texts of conversations, as annotators may see them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Text, cast, func, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.conversations.domain import ShownConversation
from spotthebot.annotation.conversations.tables import ShownConversationRow as ShownRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession

_ROWS_AT_ONCE = 500
NAME: Final[ColumnElement[str]] = func.coalesce(ShownRow.external_id, cast(ShownRow.conversation_id, Text))
"""A conversation's name in exports and uploads: the external id of its import, else its id."""
_NOBODY: Mapping[UUID, bytes] = MappingProxyType({})


async def add_shown_conversations(
    session: WriteSession,
    campaign_id: UUID,
    conversations: Sequence[ShownConversation],
    interactors: Mapping[UUID, bytes] = _NOBODY,
) -> None:
    """Store conversations, with hashes of the people who chatted in them; stored conversations stay as they are."""
    for start in range(0, len(conversations), _ROWS_AT_ONCE):
        rows = [
            {
                "campaign_id": campaign_id,
                "conversation_id": conversation.conversation_id,
                "external_id": conversation.external_id,
                "opening": conversation.opening.unpacked(),
                "turns": conversation.turns.unpacked(),
                "interactor_sha256": interactors.get(conversation.conversation_id),
            }
            for conversation in conversations[start : start + _ROWS_AT_ONCE]
        ]
        await session.execute(insert(ShownRow).on_conflict_do_nothing(), rows)


async def list_shown_ids(session: ReadSession, campaign_id: UUID) -> frozenset[UUID]:
    """Return the ids of the conversations that a campaign has."""
    return frozenset(await session.scalars(select(ShownRow.conversation_id).where(ShownRow.campaign_id == campaign_id)))


async def count_shown(session: ReadSession, campaign_id: UUID) -> int:
    """Return how many conversations a campaign has."""
    statement = select(func.count()).select_from(ShownRow).where(ShownRow.campaign_id == campaign_id)
    return await session.scalar(statement) or 0


async def conversations_by_name(session: ReadSession, campaign_id: UUID) -> dict[str, tuple[UUID, int]]:
    """Return the id and the number of exchanges of each of a campaign's conversations.

    The keys are the conversations' names in exports, and the suite's own ids of imported conversations.
    """
    statement = select(NAME, ShownRow.conversation_id, func.jsonb_array_length(ShownRow.turns)).where(
        ShownRow.campaign_id == campaign_id
    )
    rows = [(name, row_id, turns // 2) for name, row_id, turns in await session.execute(statement)]
    by_id = {str(row_id): (row_id, exchanges) for _, row_id, exchanges in rows}
    return by_id | {name: (row_id, exchanges) for name, row_id, exchanges in rows}
