"""The only SQL over the conversations of several collections at once."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, bindparam, select, text

from spotthebot.contracts.conversations import ConversationState, Participant, ParticipantKind
from spotthebot.conversations.domain.mixes import Mixed
from spotthebot.conversations.tables import CollectionRow, PairRow
from spotthebot.kit.database import ReadSession

_PEOPLES_UTTERANCES = 4
"""Two exchanges in common make two conversations of people the same dialogue, which may be cut at other lengths."""
_MIXED = text(f"""
    SELECT v.id, v.collection_id, p.participants, v.turns_said / 2 AS exchanges,
        sha256(convert_to((
            CASE WHEN p.participants @> '[{{"kind": "bot"}}]' THEN said.history
            ELSE said.history[1:{_PEOPLES_UTTERANCES}] END
        )::text, 'UTF8')) AS words,
        CASE WHEN v.opening_shown THEN cardinality(v.opening) ELSE 0 END AS shown_opening
    FROM conversations.conversations AS v
    JOIN conversations.pairs AS p ON p.collection_id = v.collection_id AND p.number = v.pair
    CROSS JOIN LATERAL (
        SELECT v.opening || ARRAY(
            SELECT t.text FROM conversations.turns AS t WHERE t.conversation_id = v.id ORDER BY t.position
        ) AS history
    ) AS said
    WHERE v.collection_id = ANY (:collections) AND v.state = :complete
    ORDER BY array_position(:collections, v.collection_id), v.id
""").bindparams(bindparam("collections", type_=ARRAY(Uuid)))  # noqa: S608 - a number of our own


async def list_mixed(session: ReadSession, collections: Sequence[UUID]) -> list[Mixed]:
    """Return the complete conversations of collections, in their order and that of their plans."""
    rows = await session.execute(_MIXED, {"collections": [*collections], "complete": ConversationState.COMPLETE.value})
    return [
        Mixed(row_id, collection_id, _sides(participants), exchanges, words, shown_opening)
        for row_id, collection_id, participants, exchanges, words, shown_opening in rows
    ]


async def list_bots(session: ReadSession, collections: Sequence[UUID]) -> list[tuple[str, Participant]]:
    """Return who speaks in collections, but for people: with the collection's name, in their order."""
    statement = (
        select(CollectionRow.id, CollectionRow.name, PairRow.participants)
        .join(PairRow, PairRow.collection_id == CollectionRow.id)
        .where(CollectionRow.id.in_(collections))
        .order_by(PairRow.number)
    )
    rows = sorted((await session.execute(statement)).all(), key=lambda row: collections.index(row.id))
    return [
        (f"{name} ({collection_id})", side)
        for collection_id, name, participants in rows
        for side in map(Participant.model_validate, participants)
        if side.kind is ParticipantKind.BOT
    ]


def _sides(participants: Sequence[dict[str, object]]) -> tuple[Participant, Participant]:
    first, second = map(Participant.model_validate, participants)
    return first, second
