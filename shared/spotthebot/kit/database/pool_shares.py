"""Gives each API key a share of a pool's connections, so that the requests of one key never hold all of them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from spotthebot.kit.errors import TooMany

_WAIT_SECONDS = 10.0
_MAX_WAITING = 200


@dataclass
class PoolUser:
    """The API key on whose behalf a request takes connections, and how many connections of each pool the request holds.

    A request that holds one connection takes further ones outside of the share. Otherwise it could wait for itself.
    """

    name: str
    held: Counter[int] = field(default_factory=Counter)


pool_user: ContextVar[PoolUser | None] = ContextVar("pool_user", default=None)
"""The user that the running task takes connections for. None, as in workers and for other services, has no limit."""


class ShareInUse(TooMany):
    """Other requests with this API key use all of its database connections: try again in {retry_after_seconds} s."""


@dataclass
class _Queue:
    semaphore: asyncio.Semaphore
    members: int = 0
    """The number of requests that hold a connection or wait for one."""


class PoolShares:
    """The shares of one pool: each user may hold `share` connections."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Hold one of the user's connections while the block runs.

        Raises ShareInUse if no connection is free within ten seconds, or if 200 requests already wait.
        """
        user = pool_user.get()
        if user is None or user.held[id(self)]:
            yield
            return
        queue = self._queues.setdefault(user.name, _Queue(asyncio.Semaphore(self._share)))
        if queue.members >= self._share + _MAX_WAITING:
            raise ShareInUse(retry_after_seconds=1)
        queue.members += 1
        try:
            await self._wait_for(queue)
            user.held[id(self)] += 1
            try:
                yield
            finally:
                user.held[id(self)] -= 1
                queue.semaphore.release()
        finally:
            queue.members -= 1
            if not queue.members:
                del self._queues[user.name]

    async def _wait_for(self, queue: _Queue) -> None:
        if not queue.semaphore.locked():
            await queue.semaphore.acquire()
            return
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await queue.semaphore.acquire()
        except TimeoutError:
            raise ShareInUse(retry_after_seconds=1) from None
