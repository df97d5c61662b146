"""Waiting for events of chats: the count of events that `CountWatch` polls, and the limit on listeners."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from spotthebot.conversations.chats.errors import TooManyListeners
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.kit.database.sessions import DATABASE_TROUBLE, Database
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.waits.count_watch import CountWatch

MAX_LISTENERS: Final = 20
"""The limit of listeners of a chat. A person has a few tabs; more would waste connections."""
_log = get_logger(__name__)


async def count_events(database: Database, chat_ids: Sequence[UUID]) -> Mapping[UUID, int]:
    """Return the number of events of each chat; an empty mapping while the database does not answer."""
    try:
        async with database.read() as session:
            return await chats_store.count_events(session, chat_ids)
    except DATABASE_TROUBLE as error:
        _log.warning("chats.not_watched", error=type(error).__name__)
        return {}


def require_room(watch: CountWatch, chat_id: UUID) -> None:
    """Raise TooManyListeners if the listeners of a chat in this process have reached their limit."""
    if (listeners := watch.listeners_of(chat_id)) >= MAX_LISTENERS:
        raise TooManyListeners(listeners=listeners, retry_after_seconds=5)
