"""The pool of bot clients, one for each version in use. It closes the least recently used clients."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from spotthebot.bots.bot_client import BotClient
from spotthebot.bots.bots.domain import Bot, BotVersion
from spotthebot.bots.protocols.factory import SpeakerFactory
from spotthebot.bots.questions.domain.replies import cleaning_of
from spotthebot.inference.workers.worker import WorkerModel

_MAX_CLIENTS = 2048


@dataclass(frozen=True)
class _Pooled:
    """A client, and the secret that it was made with, because another process may replace a version's secret."""

    client: BotClient
    sealed_secret: bytes | None = field(repr=False)


class BotClientPool:
    """Keeps one client for each version in use. If it has too many clients, it closes the least recently used."""

    def __init__(
        self,
        speakers: SpeakerFactory,
        on_open: Callable[[UUID, str], Awaitable[None]],
        on_pause: Callable[[UUID, float], Awaitable[None]],
    ) -> None:
        self.speakers = speakers
        self._on_open = on_open
        self._on_pause = on_pause
        self._clients: OrderedDict[UUID, _Pooled] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    def get(self, bot: Bot, version: BotVersion, model: WorkerModel | None) -> BotClient:
        """Return a version's client, with the bot's present limits and the version's present secret.

        Raises SecretUnreadable, HostingMissing.
        """
        pooled = self._clients.get(version.id)
        if pooled is None or (pooled.client.limits, pooled.sealed_secret) != (bot.limits, version.sealed_secret):
            self.discard(version.id)
            client = self.make(bot, version, model, on_open=partial(self._on_open, bot.id))
            pooled = self._clients[version.id] = _Pooled(client, version.sealed_secret)
            if len(self._clients) > _MAX_CLIENTS:
                self.discard(next(iter(self._clients)))
        self._clients.move_to_end(version.id)
        return pooled.client

    def make(
        self,
        bot: Bot,
        version: BotVersion,
        model: WorkerModel | None,
        *,
        on_open: Callable[[str], Awaitable[None]] | None = None,
    ) -> BotClient:
        """Make a client outside the pool, with a separate circuit; the caller closes its speaker."""
        speaker = self.speakers.make(bot, version, model)
        return BotClient(
            f"{bot.id}/{version.number}",
            speaker,
            bot.limits,
            on_open or _ignore,
            cleaning=cleaning_of(version.protocol),
            on_pause=partial(self._on_pause, bot.id),
        )

    def discard(self, version_id: UUID) -> None:
        """Close a version's client, if any; the next question makes a new client."""
        if pooled := self._clients.pop(version_id, None):
            task = asyncio.create_task(pooled.client.speaker.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        for version_id in list(self._clients):
            self.discard(version_id)
        await asyncio.gather(*self._closing, return_exceptions=True)


async def _ignore(_reason: str) -> None:
    return  # the probe's report says why the bot failed
