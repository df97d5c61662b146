"""Waiting for events of chats: one query for all chats that are watched through this process."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from spotthebot.conversations.chats.errors import TooManyListeners
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.kit.database.sessions import DATABASE_TROUBLE, Database
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.waits.cancellation import pause

MAX_LISTENERS: Final = 20
"""A person has a few tabs; more would occupy connections for nothing."""
_log = get_logger(__name__)


class ChatWatch:
    """Wakes the readers of a chat when any process adds an event to it."""

    def __init__(self, database: Database, seconds: float) -> None:
        self._database = database
        self._seconds = seconds
        self._waiting: dict[UUID, dict[asyncio.Future[None], int]] = defaultdict(dict)
        self._listeners: Counter[UUID] = Counter()
        self._has_readers = asyncio.Event()

    def require_room(self, chat_id: UUID) -> None:
        """Raise TooManyListeners where a chat has as many listeners in this process as it may have."""
        if (listeners := self._listeners.get(chat_id, 0)) >= MAX_LISTENERS:
            raise TooManyListeners(listeners=listeners, retry_after_seconds=5)

    @contextmanager
    def listening(self, chat_id: UUID) -> Iterator[None]:
        """Count a listener of a chat while the block lasts."""
        self._listeners[chat_id] += 1
        try:
            yield
        finally:
            self._listeners[chat_id] -= 1
            if not self._listeners[chat_id]:
                del self._listeners[chat_id]

    async def wait_beyond(self, chat_id: UUID, number: int) -> None:
        """Return once a chat has an event with a number above `number`."""
        woken = asyncio.get_running_loop().create_future()
        self._waiting[chat_id][woken] = number
        self._has_readers.set()
        try:
            await woken
        finally:
            self._waiting[chat_id].pop(woken, None)
            if not self._waiting[chat_id]:
                del self._waiting[chat_id]

    async def run(self) -> None:
        """Poll as long as any reader waits."""
        while True:
            await self._has_readers.wait()
            try:
                async with self._database.read() as session:
                    counts = await chats_store.count_events(session, list(self._waiting))
            except DATABASE_TROUBLE as error:
                _log.warning("chats.not_watched", error=type(error).__name__)
                counts = {}
            for chat_id, count in counts.items():
                for woken, number in self._waiting.get(chat_id, {}).items():
                    if count > number and not woken.done():
                        woken.set_result(None)
            if not self._waiting:
                self._has_readers.clear()
            await pause(self._seconds)
