"""The only SQL over people's ratings: of chats held here, and of imported conversations."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC
from uuid import UUID

from sqlalchemy import func, literal_column, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.contracts.conversations.exports import ExportedPreference, ExportedRating, ExportedScore
from spotthebot.contracts.conversations.ids import Mode
from spotthebot.conversations.chats.domain.chats import Chat, RatedChat, RatedConversation, RatingsRevision
from spotthebot.conversations.chats.domain.people import pseudonym_of
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import people as people_store
from spotthebot.conversations.chats.tables import ChatPersonRow, ChatRow, ImportedRatingRow
from spotthebot.conversations.collections.domain import ExportSource
from spotthebot.conversations.collections.errors import NoSuchCollection
from spotthebot.conversations.collections.tables import CollectionRow, PairRow
from spotthebot.conversations.conversations.tables import ConversationRow
from spotthebot.kit.database.revisions import revision_of, sum_of_hashes
from spotthebot.kit.database.sessions import ReadSession, WriteSession

_HUMAN_BOT: Mode = "human_bot"
_HASHED = (ChatRow.id, ChatRow.interactor, ChatRow.bots, ChatRow.conversations, ChatRow.ratings, ChatRow.rated_at)
"""What a rated chat says; its other columns may change without it."""


async def lock_kinds(
    session: WriteSession, collection_id: UUID, interactors: Collection[str]
) -> dict[str, AnnotatorKind]:
    """Return the kinds of those of these interactors who are known in a collection, by name.

    Until this transaction ends, nobody is added to the collection or erased.
    """
    await chats_store.lock_draws(session, collection_id)
    return await people_store.find_kinds(session, collection_id, interactors)


async def add_ratings(
    session: WriteSession, collection_id: UUID, ratings: Sequence[tuple[UUID, ExportedRating]]
) -> None:
    """Store people's ratings of imported conversations, and the people, by the conversation's id in this database.

    The caller has compared their kinds with those that `lock_kinds` returned.
    """
    if ratings:
        rows = [
            {
                "conversation_id": conversation_id,
                "collection_id": collection_id,
                "chat_id": rating.chat_id,
                "interactor": rating.interactor,
                "number": rating.number,
                "scores": {each.question: each.score for each in rating.scores},
                "preferred": rating.preferred,
                "preferences": {each.question: each.preferred for each in rating.preferences},
                "rated_at": rating.rated_at,
            }
            for conversation_id, rating in ratings
        ]
        await session.execute(insert(ImportedRatingRow), rows)
        kinds = {rating.interactor: rating.interactor_kind for _, rating in ratings}
        for interactor, kind in sorted(kinds.items()):
            await people_store.add_person(session, collection_id, interactor, kind, consent_sha256=None)


async def find_ratings(
    session: ReadSession, source: ExportSource, conversations: Sequence[UUID]
) -> dict[UUID, ExportedRating]:
    """Return the ratings of conversations by conversation id, in the form of exports, with pseudonyms."""
    if source.mode == _HUMAN_BOT:
        rated = select(ChatRow).where(
            ChatRow.collection_id == source.id,
            ChatRow.rated_at.is_not(None),
            ChatRow.conversations.overlap(list(conversations)),
        )
        held = [chats_store.chat_of(row) for row in await session.scalars(rated)]
        kinds = await people_store.get_kinds(session, source.id, held)
        return {
            each: _exported(chat, number, kinds[chat.interactor], source.pseudonym_key)
            for chat in held
            for number, each in enumerate(chat.conversations, 1)
        }
    statement = select(ImportedRatingRow).where(ImportedRatingRow.conversation_id.in_(conversations))
    imported = (await session.scalars(statement)).all()
    kinds = await people_store.get_kinds(session, source.id, imported)
    return {
        row.conversation_id: ExportedRating(
            chat_id=row.chat_id,
            interactor=pseudonym_of(row.interactor, kinds[row.interactor], source.pseudonym_key),
            interactor_kind=kinds[row.interactor],
            number=row.number,
            scores=_scores(row.scores),
            preferred=row.preferred,
            preferences=_preferences(row.preferences),
            rated_at=row.rated_at.astimezone(UTC),
        )
        for row in imported
    }


async def list_rated_chats(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> list[RatedChat]:
    """Return the rated chats of a collection with pseudonyms, oldest first; raises NoSuchCollection, NotForChats."""
    collection = await _get_collection(session, collection_id)
    if _has_imported(collection):
        return await _list_imported(session, collection, after, limit)
    partners = (await chats_store.get_chat_collection(session, collection_id)).partners
    held = await chats_store.list_chats(session, collection_id, rated=True, after=after, limit=limit)
    kinds = await people_store.get_kinds(session, collection_id, held)
    return [_rated(chat, partners, kinds[chat.interactor], collection.pseudonym_key) for chat in held]


async def get_ratings_revision(session: ReadSession, collection_id: UUID) -> RatingsRevision:
    """Count a collection's rated chats and sum the hashes of their ratings; raises NoSuchCollection, NotForChats.

    The sum includes the number of people whose words were erased, because results depend on the rated texts, too.
    """
    collection = await _get_collection(session, collection_id)
    if _has_imported(collection):
        hashes = sum_of_hashes(literal_column(ImportedRatingRow.__tablename__))
        statement = select(func.count(ImportedRatingRow.chat_id.distinct()), hashes)
        statement = statement.select_from(ImportedRatingRow).where(ImportedRatingRow.collection_id == collection_id)
    else:
        await chats_store.get_chat_collection(session, collection_id)
        statement = select(func.count(), sum_of_hashes(func.row(*_HASHED)))
        statement = statement.where(ChatRow.collection_id == collection_id, ChatRow.rated_at.is_not(None))
    erased = select(func.count(ChatPersonRow.texts_erased_at)).where(ChatPersonRow.collection_id == collection_id)
    count, *sums = (await session.execute(statement.add_columns(erased.scalar_subquery()))).one()
    return RatingsRevision(ratings=count, revision=revision_of(count, *sums))


async def _get_collection(session: ReadSession, collection_id: UUID) -> CollectionRow:
    collection = await session.get(CollectionRow, collection_id)
    if collection is None:
        raise NoSuchCollection(collection_id=collection_id)
    return collection


def _has_imported(collection: CollectionRow) -> bool:
    return collection.mode == "import" and collection.plan.get("held_as") == _HUMAN_BOT


async def _list_imported(
    session: ReadSession, collection: CollectionRow, after: UUID | None, limit: int
) -> list[RatedChat]:
    own = ImportedRatingRow.collection_id == collection.id
    ids = select(ImportedRatingRow.chat_id).where(own).distinct().order_by(ImportedRatingRow.chat_id).limit(limit)
    if after is not None:
        ids = ids.where(ImportedRatingRow.chat_id > after)
    statement = (
        select(ImportedRatingRow, PairRow.participants)
        .select_from(ImportedRatingRow)
        .join(ConversationRow, ConversationRow.id == ImportedRatingRow.conversation_id)
        .join(PairRow)
        .where(own, ImportedRatingRow.chat_id.in_(ids.scalar_subquery()))
        .order_by(ImportedRatingRow.chat_id, ImportedRatingRow.number, ImportedRatingRow.conversation_id)
    )
    found: dict[UUID, list[tuple[ImportedRatingRow, Participant]]] = defaultdict(list)
    for row, participants in await session.execute(statement):
        sides = [Participant.model_validate(side) for side in participants]
        partner = next((side for side in sides if side.kind is ParticipantKind.BOT), sides[-1])
        found[row.chat_id].append((row, partner))
    firsts = {chat_id: rows[0][0] for chat_id, rows in found.items()}
    kinds = await people_store.get_kinds(session, collection.id, firsts.values())
    return [
        RatedChat(
            id=chat_id,
            interactor=pseudonym_of(first.interactor, kinds[first.interactor], collection.pseudonym_key),
            interactor_kind=kinds[first.interactor],
            conversations=tuple(
                RatedConversation(row.conversation_id, row.number, partner, row.scores)
                for row, partner in found[chat_id]
            ),
            preferred=first.preferred,
            preferences=first.preferences,
            rated_at=first.rated_at,
        )
        for chat_id, first in firsts.items()
    ]


def _rated(chat: Chat, partners: Mapping[UUID, Participant], kind: AnnotatorKind, key: bytes) -> RatedChat:
    scores = _scores_by_number(chat)
    return RatedChat(
        id=chat.id,
        interactor=pseudonym_of(chat.interactor, kind, key),
        interactor_kind=kind,
        conversations=tuple(
            RatedConversation(conversation_id, number, partners[bot], scores.get(number, {}))
            for number, (bot, conversation_id) in enumerate(zip(chat.bots, chat.conversations, strict=False), 1)
        ),
        preferred=chat.ratings.preferred if chat.ratings else None,
        preferences=chat.ratings.preferences if chat.ratings else {},
        rated_at=chat.rated_at or chat.last_turn_at,
    )


def _exported(chat: Chat, number: int, kind: AnnotatorKind, key: bytes | None) -> ExportedRating:
    return ExportedRating(
        chat_id=chat.id,
        interactor=pseudonym_of(chat.interactor, kind, key),
        interactor_kind=kind,
        number=number,
        scores=_scores(_scores_by_number(chat).get(number, {})),
        preferred=chat.ratings.preferred if chat.ratings else None,
        preferences=_preferences(chat.ratings.preferences if chat.ratings else {}),
        rated_at=(chat.rated_at or chat.last_turn_at).astimezone(UTC),
    )


def _scores_by_number(chat: Chat) -> dict[int, Mapping[str, int]]:
    return {each.number: each.scores for each in chat.ratings.conversations} if chat.ratings else {}


def _scores(scores: Mapping[str, int]) -> tuple[ExportedScore, ...]:
    return tuple(ExportedScore(question=name, score=score) for name, score in sorted(scores.items()))


def _preferences(preferences: Mapping[str, int | None]) -> tuple[ExportedPreference, ...]:
    return tuple(ExportedPreference(question=name, preferred=number) for name, number in sorted(preferences.items()))
