"""Limits the memory of JSON bodies, from their first byte until their answer: for each caller, and in total.

A body takes twice its bytes, once as received and once as texts, and some more for each value. Without this limit, one
key could fill the memory of a process by sending its largest bodies at once. Each is allowed, and all are in memory
while the first one is answered.
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
    """Counts the bytes of bodies in one process. A body is always accepted if there is no other body."""

    in_all: int
    by_caller: int
    _held: Counter[str] = field(default_factory=Counter, init=False)
    _total: int = field(default=0, init=False)
    _parsing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    @asynccontextmanager
    async def parsing(self, body: bytes) -> AsyncIterator[None]:
        """Wait for the turn to parse a body, and parse it in the block. Only one large body is parsed at a time.

        Other requests run before it, since parsing blocks the event loop.
        """
        if len(body) < _LARGE:
            yield
            return
        async with self._parsing:
            await asyncio.sleep(0)
            yield

    @contextmanager
    def held(self, caller: str, size: int, *, is_ours: bool) -> Iterator["HeldBytes"]:
        """Count the bytes of a body while the block runs. Bodies from our own services are counted, but never refused.

        Raises TooManyBytesUnderWay and NoRoomForBodies.
        """
        held = HeldBytes(self, caller, is_ours=is_ours)
        try:
            held.add(size)
            yield held
        finally:
            held.release()

    def take(self, caller: str, size: int, already: int, *, is_ours: bool) -> None:
        """Count `size` more bytes for a body that already has `already` bytes. Raises the errors of `held`."""
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
    """The bytes that are counted for one body."""

    _all: BytesUnderWay
    _caller: str
    is_ours: bool
    _size: int = 0

    def add(self, size: int) -> None:
        self._all.take(self._caller, size, self._size, is_ours=self.is_ours)
        self._size += size

    def add_values(self, body: bytes) -> None:
        """Count the memory of a body's values. This is called after the body has arrived, and before it is parsed."""
        self.add(_BYTES_OF_A_VALUE * (body.count(b",") + body.count(b"[") + body.count(b"{")))

    def release(self) -> None:
        self._all.give_back(self._caller, self._size)
        self._size = 0
