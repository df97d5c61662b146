"""The erasure of a person who chatted: their ratings stay, under a random name; the service's log notes it."""

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
