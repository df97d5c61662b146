"""The pool of bot clients: one for each version in use; the least recently used are closed."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from uuid import UUID

from spotthebot.bots.bot_client import BotClient
from spotthebot.bots.domain.bots import Bot, BotVersion
from spotthebot.bots.protocols.factory import SpeakerFactory
from spotthebot.inference.workers import WorkerModel

_MAX_CLIENTS = 2048


class BotClientPool:
    """Keeps one client for each version in use, and closes the least recently used beyond its limits."""

    def __init__(self, speakers: SpeakerFactory, on_open: Callable[[UUID, str], Awaitable[None]]) -> None:
        self.speakers = speakers
        self._on_open = on_open
        self._clients: OrderedDict[UUID, BotClient] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    def get(self, bot: Bot, version: BotVersion, model: WorkerModel | None) -> BotClient:
        """Return a version's client, under the bot's present limits. Raises SecretUnreadable, HostingMissing."""
        client = self._clients.get(version.id)
        if client is None or client.limits != bot.limits:
            self.discard(version.id)
            client = self.make(bot, version, model, on_open=partial(self._on_open, bot.id))
            self._clients[version.id] = client
            if len(self._clients) > _MAX_CLIENTS:
                self.discard(next(iter(self._clients)))
        self._clients.move_to_end(version.id)
        return client

    def make(
        self,
        bot: Bot,
        version: BotVersion,
        model: WorkerModel | None,
        *,
        on_open: Callable[[str], Awaitable[None]] | None = None,
    ) -> BotClient:
        """Make a client outside the pool, with a circuit of its own; the caller closes its speaker."""
        speaker = self.speakers.make(bot, version, model)
        return BotClient(f"{bot.id}/{version.number}", speaker, bot.limits, on_open or _ignore)

    def discard(self, version_id: UUID) -> None:
        """Close a version's client if there is one; the next question makes another."""
        if client := self._clients.pop(version_id, None):
            task = asyncio.create_task(client.speaker.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        for version_id in list(self._clients):
            self.discard(version_id)
        await asyncio.gather(*self._closing, return_exceptions=True)


async def _ignore(_reason: str) -> None:
    return  # a probe's report says already why the bot failed
