"""A person who chatted withdraws consent, or is erased: rated chats stay, at last under a random name."""

from datetime import datetime
from uuid import UUID

from spotthebot.contracts.conversations.chats import ChatState
from spotthebot.contracts.terms import SubmittedTexts
from spotthebot.conversations.chats.domain.chats import TRANSITIONS
from spotthebot.conversations.chats.domain.people import ChatPerson
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import people as people_store
from spotthebot.conversations.chats.use_cases.idle import abandon
from spotthebot.conversations.metadata import IDEMPOTENCY
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.web.database.erasure import delete_answers_about

_log = get_logger(__name__)


async def withdraw_consent(
    session: WriteSession, collection_id: UUID, interactor: str, *, key_id: UUID, now: datetime
) -> ChatPerson:
    """Withdraw a person's consent; the service's log notes it. A repeat changes nothing.

    The chat that goes on is abandoned. Rated chats stay, and so does their pay. Until the person consents again, no
    ratings are taken. Raises NoSuchCollection, NotForChats, NoSuchChatPerson.
    """
    await chats_store.get_chat_collection(session, collection_id)
    await chats_store.lock_draws(session, collection_id)  # no chat begins meanwhile
    person = await people_store.lock_person_named(session, collection_id, interactor)
    if person.consent_sha256 is not None:
        for chat in await chats_store.list_chats_of(session, collection_id, interactor):
            locked = await chats_store.lock_chat(session, chat.id)
            if ChatState.ABANDONED in TRANSITIONS[locked.state]:
                await abandon(session, locked)
        await people_store.withdraw_consent(session, person.id, now)
        _log.info("chats.consent_withdrawn", collection=str(collection_id), person=str(person.id), key=str(key_id))
    return await people_store.get_person(session, collection_id, person.id)


async def erase_chat_person(
    session: WriteSession,
    collection_id: UUID,
    person_id: UUID,
    submitted_texts: SubmittedTexts,
    *,
    key_id: UUID,
    now: datetime,
) -> ChatPerson:
    """Erase a person from a collection of chats, imported or not. Their scores and preferences stay.

    Their unfinished chat is abandoned. A repeat can erase texts that the first request kept; otherwise it changes
    nothing. Raises NoSuchCollection, NotForChats, NoSuchChatPerson.
    """
    await chats_store.find_plan(session, collection_id)
    await chats_store.lock_draws(session, collection_id)  # no chat begins meanwhile
    person = await people_store.lock_person(session, collection_id, person_id)
    theirs = await chats_store.list_chats_of(session, collection_id, person.interactor)
    imported = await people_store.list_imported(session, collection_id, person.interactor)
    if person.erased_at is None:
        for chat in theirs:
            locked = await chats_store.lock_chat(session, chat.id)
            if ChatState.ABANDONED in TRANSITIONS[locked.state]:
                await abandon(session, locked)
        ids = [person_id, *(chat.id for chat in theirs)]
        await delete_answers_about(session, IDEMPOTENCY, person.interactor, ids)
        await people_store.erase_person(session, collection_id, person.interactor, now)
        _log.info("chats.person_erased", collection=str(collection_id), person=str(person_id), key=str(key_id))
    if submitted_texts is SubmittedTexts.ERASE:
        spoken = [*imported, *(each for chat in theirs for each in chat.conversations)]
        await people_store.erase_texts(session, person_id, spoken, now)
    return await people_store.get_person(session, collection_id, person_id)
