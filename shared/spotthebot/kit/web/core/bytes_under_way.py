"""A limit on the memory of JSON bodies under way, from their first byte until their answer: by caller, and in all.

A body costs its bytes twice, as it came and as texts, and each of its values some more. Without a limit, one key's
largest bodies sent at once fill a process: each is allowed, and all are held while the first one is answered.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from spotthebot.kit.errors import TooMany, Unavailable

_BYTES_OF_A_VALUE = 64
_RETRY_AFTER_SECONDS = 1
_LARGE = 256 * 1024


class TooManyBytesUnderWay(TooMany):
    """Your requests under way hold {megabytes} MB of JSON: send fewer at once, or wait {retry_after_seconds} s."""


class NoRoomForBodies(Unavailable):
    """All requests under way hold as much JSON as this service takes: try again in {retry_after_seconds} s."""


@dataclass
class BytesUnderWay:
    """Counts the bytes of one process; a body that comes alone is always taken."""

    in_all: int
    by_caller: int
    _held: Counter[str] = field(default_factory=Counter, init=False)
    _total: int = field(default=0, init=False)
    _parsing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    @asynccontextmanager
    async def parsing(self, body: bytes) -> AsyncIterator[None]:
        """Let other requests go on between the parsing of two large bodies, each of which holds up the event loop."""
        if len(body) < _LARGE:
            yield
            return
        async with self._parsing:
            await asyncio.sleep(0)
            yield

    @contextmanager
    def held(self, caller: str, size: int, *, is_ours: bool) -> Iterator["HeldBytes"]:
        """Hold the bytes of a body while the block lasts; services of our own are counted and never refused.

        Raises TooManyBytesUnderWay, NoRoomForBodies.
        """
        held = HeldBytes(self, caller, is_ours=is_ours)
        try:
            held.add(size)
            yield held
        finally:
            held.release()

    def take(self, caller: str, size: int, already: int, *, is_ours: bool) -> None:
        """Count so many bytes more for a body that holds some `already`."""
        mine, others = self._held[caller] - already, self._total - already
        if not is_ours and mine and self._held[caller] + size > self.by_caller:
            raise TooManyBytesUnderWay(megabytes=mine // 1_000_000, retry_after_seconds=_RETRY_AFTER_SECONDS)
        if not is_ours and others and self._total + size > self.in_all:
            raise NoRoomForBodies(retry_after_seconds=_RETRY_AFTER_SECONDS)
        self._held[caller] += size
        self._total += size

    def give_back(self, caller: str, size: int) -> None:
        self._total -= size
        self._held[caller] -= size
        if not self._held[caller]:
            del self._held[caller]


@dataclass
class HeldBytes:
    """The bytes that one body holds."""

    _all: BytesUnderWay
    _caller: str
    is_ours: bool
    _size: int = 0

    def add(self, size: int) -> None:
        self._all.take(self._caller, size, self._size, is_ours=self.is_ours)
        self._size += size

    def add_values(self, body: bytes) -> None:
        """Hold what the values of a body cost, once it has come and before it is parsed."""
        self.add(_BYTES_OF_A_VALUE * (body.count(b",") + body.count(b"[") + body.count(b"{")))

    def release(self) -> None:
        self._all.give_back(self._caller, self._size)
        self._size = 0
