"""The only SQL over people who chat: their consent, what they did in a collection, and their erasure."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.chats import ChatState
from spotthebot.conversations.chats.domain.chats import Chat
from spotthebot.conversations.chats.domain.people import ChatPerson
from spotthebot.conversations.chats.errors import NoSuchChatPerson
from spotthebot.conversations.chats.tables import ChatEventRow, ChatPersonRow, ChatRow, ImportedRatingRow
from spotthebot.conversations.quality.tables import QualityFlagsRow
from spotthebot.kit.crypto.pseudonyms import ERASED, erased_name
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id


async def find_consent(session: ReadSession, collection_id: UUID, interactor: str) -> str | None:
    """Return the hash of the text that a person consented to; None if they consented to nothing."""
    statement = select(ChatPersonRow.consent_sha256).where(
        ChatPersonRow.collection_id == collection_id, ChatPersonRow.interactor == interactor
    )
    return await session.scalar(statement)


async def find_kind(session: ReadSession, collection_id: UUID, interactor: str) -> AnnotatorKind | None:
    """Return the kind of a person or a program who began a chat in a collection; None if nobody of this name did."""
    return (await find_kinds(session, collection_id, [interactor])).get(interactor)


async def get_kinds(
    session: ReadSession, collection_id: UUID, chats: Iterable[Chat | ImportedRatingRow]
) -> dict[str, AnnotatorKind]:
    """Return the kind of each person or program of these chats or imported ratings in a collection, by name."""
    interactors = {chat.interactor for chat in chats}
    found = await find_kinds(session, collection_id, interactors)
    return dict.fromkeys(interactors, AnnotatorKind.PERSON) | found


async def find_kinds(
    session: ReadSession, collection_id: UUID, interactors: Collection[str]
) -> dict[str, AnnotatorKind]:
    """Return the kinds of those of these people and programs who are known in a collection, by name."""
    statement = select(ChatPersonRow.interactor, ChatPersonRow.kind).where(
        ChatPersonRow.collection_id == collection_id, ChatPersonRow.interactor.in_(interactors)
    )
    return {name: AnnotatorKind(kind) for name, kind in await session.execute(statement)}


async def add_person(
    session: WriteSession, collection_id: UUID, interactor: str, kind: AnnotatorKind, *, consent_sha256: str | None
) -> None:
    """Store a person or a program with the text that they consent to.

    Somebody known stays as they are, unless they withdrew their consent and now consent again.
    """
    values = {
        "id": new_id(),
        "collection_id": collection_id,
        "interactor": interactor,
        "kind": kind,
        "consent_sha256": consent_sha256,
        "consented_at": None if consent_sha256 is None else func.now(),
    }
    added = insert(ChatPersonRow).values(values)
    again = {name: added.excluded[name] for name in ("consent_sha256", "consented_at")}
    await session.execute(
        added.on_conflict_do_update(
            index_elements=[ChatPersonRow.collection_id, ChatPersonRow.interactor],
            set_=again | {"consent_withdrawn_at": None},
            where=ChatPersonRow.consent_withdrawn_at.is_not(None),
        )
    )


async def withdraw_consent(session: WriteSession, person_id: UUID, at: datetime) -> None:
    """Store that a person withdrew their consent; the time of the consent stays."""
    await session.execute(
        update(ChatPersonRow).where(ChatPersonRow.id == person_id).values(consent_sha256=None, consent_withdrawn_at=at)
    )


async def has_withdrawn(session: ReadSession, collection_id: UUID, interactor: str) -> bool:
    """Return whether a person withdrew their consent and did not consent again."""
    statement = select(ChatPersonRow.consent_withdrawn_at).where(
        ChatPersonRow.collection_id == collection_id, ChatPersonRow.interactor == interactor
    )
    return await session.scalar(statement) is not None


async def lock_person_named(session: WriteSession, collection_id: UUID, interactor: str) -> ChatPersonRow:
    """Return a person by the frontend's id, locked; raises NoSuchChatPerson."""
    is_person = (ChatPersonRow.collection_id == collection_id, ChatPersonRow.interactor == interactor)
    row = await session.scalar(select(ChatPersonRow).where(*is_person).with_for_update())
    if row is None:
        raise NoSuchChatPerson(collection_id=collection_id, person_id=interactor)
    return row


async def lock_person(session: WriteSession, collection_id: UUID, person_id: UUID) -> ChatPersonRow:
    """Return a person, locked; raises NoSuchChatPerson."""
    is_person = (ChatPersonRow.collection_id == collection_id, ChatPersonRow.id == person_id)
    row = await session.scalar(select(ChatPersonRow).where(*is_person).with_for_update())
    if row is None:
        raise NoSuchChatPerson(collection_id=collection_id, person_id=person_id)
    return row


async def erase_person(session: WriteSession, collection_id: UUID, interactor: str, at: datetime) -> None:
    """Give a person a random name in a collection; delete their consent, link, tokens and the events of their chats."""
    name = erased_name()
    theirs = (ChatRow.collection_id == collection_id, ChatRow.interactor == interactor)
    await session.execute(
        delete(ChatEventRow).where(ChatEventRow.chat_id.in_(select(ChatRow.id).where(*theirs))),
        execution_options={"synchronize_session": False},
    )
    await session.execute(
        update(ChatRow).where(*theirs).values(interactor=name, link=None, token_sha256=None, token_expires_at=None)
    )
    await session.execute(
        update(ImportedRatingRow).where(*_imported_from(collection_id, interactor)).values(interactor=name)
    )
    await session.execute(
        update(ChatPersonRow)
        .where(ChatPersonRow.collection_id == collection_id, ChatPersonRow.interactor == interactor)
        .values(interactor=name, consent_sha256=None, consented_at=None, consent_withdrawn_at=None, erased_at=at)
    )


async def list_imported(session: ReadSession, collection_id: UUID, interactor: str) -> list[UUID]:
    """Return the imported conversations that a person rated."""
    return [
        *await session.scalars(
            select(ImportedRatingRow.conversation_id).where(*_imported_from(collection_id, interactor))
        )
    ]


async def erase_texts(session: WriteSession, person_id: UUID, conversations: Sequence[UUID], at: datetime) -> None:
    """Replace a person's words in these conversations by `erased`; delete quality flags, which have hashes of them."""
    first_time = func.coalesce(ChatPersonRow.texts_erased_at, at)
    await session.execute(update(ChatPersonRow).where(ChatPersonRow.id == person_id).values(texts_erased_at=first_time))
    await session.execute(delete(QualityFlagsRow).where(QualityFlagsRow.conversation_id.in_(conversations)))
    await session.execute(
        text("""
            UPDATE conversations.turns AS t SET text = :erased, raw = NULL
            FROM conversations.conversations AS v
            JOIN conversations.pairs AS p ON p.collection_id = v.collection_id AND p.number = v.pair
            WHERE t.conversation_id = v.id AND v.id = ANY (:conversations)
                AND p.participants -> (t.position % 2) ->> 'kind' = 'human'
        """),
        {"erased": ERASED, "conversations": list(conversations)},
    )


async def get_person(session: ReadSession, collection_id: UUID, person_id: UUID) -> ChatPerson:
    """Return a person of a collection with their counts; raises NoSuchChatPerson."""
    row = (await session.execute(_with_counts(collection_id).where(ChatPersonRow.id == person_id))).one_or_none()
    if row is None:
        raise NoSuchChatPerson(collection_id=collection_id, person_id=person_id)
    return _person(row)


async def list_people(
    session: ReadSession, collection_id: UUID, *, after: UUID | None, limit: int
) -> Sequence[ChatPerson]:
    """Return the people of a collection with their counts, the first who came first."""
    statement = _with_counts(collection_id).order_by(ChatPersonRow.id).limit(limit)
    if after is not None:
        statement = statement.where(ChatPersonRow.id > after)
    return [_person(row) for row in await session.execute(statement)]


def _person(row: Row[Any]) -> ChatPerson:
    return from_row(ChatPerson, row, kind=AnnotatorKind(row.kind))


def _imported_from(collection_id: UUID, interactor: str) -> tuple[ColumnElement[bool], ...]:
    return ImportedRatingRow.collection_id == collection_id, ImportedRatingRow.interactor == interactor


def _with_counts(collection_id: UUID) -> Select[Any]:
    imported = (
        select(func.count().label("conversations"), func.count(func.distinct(ImportedRatingRow.chat_id)).label("chats"))
        .where(
            ImportedRatingRow.collection_id == collection_id, ImportedRatingRow.interactor == ChatPersonRow.interactor
        )
        .lateral()
    )
    did = (
        select(
            func.coalesce(func.sum(func.cardinality(ChatRow.conversations)), 0).label("conversations_started"),
            func.count().filter(ChatRow.state == ChatState.RATED).label("chats_rated"),
        )
        .where(ChatRow.collection_id == collection_id, ChatRow.interactor == ChatPersonRow.interactor)
        .lateral()
    )
    return select(
        *ChatPersonRow.__table__.columns,
        (did.c.conversations_started + imported.c.conversations).label("conversations_started"),
        (did.c.chats_rated + imported.c.chats).label("chats_rated"),
    ).where(ChatPersonRow.collection_id == collection_id)
