"""Waits until counts in a database grow. One query serves all keys that this process watches."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from uuid import UUID

from spotthebot.kit.waits.cancellation import pause

Count = Callable[[Sequence[UUID]], Awaitable[Mapping[UUID, int]]]
"""Returns the present counts of some keys; a key that is left out counts nothing new."""


class CountWatch:
    """Wakes the readers of a key when any process has increased the key's count."""

    def __init__(self, count: Count, seconds: float) -> None:
        self._count = count
        self._seconds = seconds
        self._waiting: dict[UUID, dict[asyncio.Future[None], int]] = defaultdict(dict)
        self._listeners: Counter[UUID] = Counter()
        self._has_readers = asyncio.Event()

    def __len__(self) -> int:
        """Return the number of listeners of all keys in this process."""
        return self._listeners.total()

    def listeners_of(self, key: UUID) -> int:
        """Return the number of listeners of a key in this process."""
        return self._listeners.get(key, 0)

    @contextmanager
    def listening(self, key: UUID) -> Iterator[None]:
        """Count a listener of a key while the block runs."""
        self._listeners[key] += 1
        try:
            yield
        finally:
            self._listeners[key] -= 1
            if not self._listeners[key]:
                del self._listeners[key]

    async def wait_beyond(self, key: UUID, number: int) -> None:
        """Return when the count of a key is above `number`."""
        woken = asyncio.get_running_loop().create_future()
        self._waiting[key][woken] = number
        self._has_readers.set()
        try:
            await woken
        finally:
            self._waiting[key].pop(woken, None)
            if not self._waiting[key]:
                del self._waiting[key]

    async def run(self) -> None:
        """Poll the database as long as any reader waits."""
        while True:
            await self._has_readers.wait()
            for key, count in (await self._count(list(self._waiting))).items():
                for woken, number in self._waiting.get(key, {}).items():
                    if count > number and not woken.done():
                        woken.set_result(None)
            if not self._waiting:
                self._has_readers.clear()
            await pause(self._seconds)
