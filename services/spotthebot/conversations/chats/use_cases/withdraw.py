"""The withdrawal of consent by a person who chats: their open chat ends, their rated chats stay."""

from datetime import datetime
from uuid import UUID

from spotthebot.contracts.conversations.chats import ChatState
from spotthebot.conversations.chats.domain.chats import TRANSITIONS
from spotthebot.conversations.chats.domain.people import ChatPerson
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import people as people_store
from spotthebot.conversations.chats.use_cases.idle import abandon
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.telemetry.logs import get_logger

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
