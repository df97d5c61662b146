"""The only SQL over the conversations of several collections at once."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select, text

from spotthebot.contracts.conversations.conversations import ConversationState, Participant, ParticipantKind
from spotthebot.conversations.collections.tables import CollectionRow, PairRow
from spotthebot.conversations.mixes.domain import Mixed, MixedPair
from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.database.statements import Statement

_PEOPLES_UTTERANCES = 4
"""Two common exchanges make two conversations of people the same dialogue, even if cut at different lengths."""
_AT_ONCE = 5000
_FIRST = UUID(int=0)
_MIXED = Statement(
    text(f"""
    SELECT v.id, v.external_id, v.pair, v.turns_said / 2 AS exchanges,
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
    WHERE v.collection_id = :collection_id AND v.id > :after AND v.state = :complete
    ORDER BY v.id LIMIT {_AT_ONCE}
""")  # noqa: S608 - numbers of our own
)


async def list_mixed(session: ReadSession, collections: Sequence[UUID]) -> list[Mixed]:
    """Return the complete conversations of collections, in the order of collections and their plans.

    It reads the conversations in parts, because PostgreSQL hashes their texts, and no statement of a request may take
    long.
    """
    pairs = select(PairRow.collection_id, PairRow.number, PairRow.participants)
    pairs = pairs.where(PairRow.collection_id.in_(collections))
    known = {
        (collection_id, number): MixedPair.of(_sides(participants))
        for collection_id, number, participants in await session.execute(pairs)
    }
    found: list[Mixed] = []
    for collection_id in collections:
        parameters = {"collection_id": collection_id, "complete": ConversationState.COMPLETE.value, "after": _FIRST}
        while rows := await session.fetch(_MIXED, parameters):
            found += [
                Mixed(
                    row.id,
                    collection_id,
                    row.external_id,
                    known[collection_id, row.pair],
                    row.exchanges,
                    row.words,
                    row.shown_opening,
                )
                for row in rows
            ]
            parameters["after"] = rows[-1].id
    return found


async def list_bots(session: ReadSession, collections: Sequence[UUID]) -> list[tuple[str, Participant]]:
    """Return the bots of collections, each with the collection's name, in the order of collections."""
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
