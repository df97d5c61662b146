"""The objects that all use cases of `bots` share, made once for the process."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from spotthebot.bots.bots.domain import Bot, BotVersion
from spotthebot.bots.bots.errors import NoSuchBot, TooManyProbes
from spotthebot.bots.client_pool import BotClientPool
from spotthebot.bots.clients import Participation
from spotthebot.bots.hosted_models import store as hosted_models_store
from spotthebot.bots.hosted_models.domain import HostedModel
from spotthebot.bots.hosted_models.errors import ModelFilesChanged
from spotthebot.bots.metrics.use_cases import ReplyMetrics
from spotthebot.bots.protocols.factory import SpeakerFactory
from spotthebot.bots.settings import BotsSettings
from spotthebot.contracts.bots.protocols import BuiltinProtocol, TransformersProtocol, TritonProtocol
from spotthebot.inference.model_files import ModelFolder
from spotthebot.inference.models.dialogue import kind as dialogue_kind
from spotthebot.inference.workers.worker import WorkerModel
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database.sessions import Database, ReadSession
from spotthebot.kit.database.statement_pool import BatchedLookup

BotLookup = asyncio.Future[Bot | None]


@dataclass(frozen=True)
class BotsContext:
    """Settings, database, factory of speakers, pool of clients, models, metrics, and counts of running probes."""

    settings: BotsSettings
    database: Database
    speakers: SpeakerFactory
    clients: BotClientPool
    folder: ModelFolder
    lookups: BatchedLookup[UUID, Bot]
    """Looks bots up by their ids; requests that coincide share a query."""
    participation: Participation
    reply_metrics: ReplyMetrics = field(default_factory=ReplyMetrics)
    _probing: Counter[str | None] = field(default_factory=Counter)

    def begin_lookup(self, bot_id: UUID) -> BotLookup:
        """Begin to look up a bot, without a check of the caller. Concurrent requests share a query."""
        return self.lookups.begin(bot_id)

    async def get_bot(self, bot_id: UUID, principal: Principal) -> Bot:
        """Return the bot if the caller may see it; raises NoSuchBot otherwise. Concurrent requests share a query."""
        bot = await self.lookups.find(bot_id)
        if bot is None or not bot.is_visible_to(principal):
            raise NoSuchBot(bot_id=bot_id)
        return bot

    @property
    def recovery(self) -> timedelta:
        return timedelta(seconds=self.settings.recovery_seconds)

    @property
    def probe_lease(self) -> timedelta:
        """The time in which a probe must have ended and be stored; later another process may probe the bot."""
        return timedelta(seconds=1.25 * self.settings.probe_seconds + 1)

    @property
    def model_lease(self) -> timedelta:
        """The duration of a hosted model's lease; a running change renews it."""
        return timedelta(seconds=self.settings.model_lease_seconds)

    def heartbeat_of(self, version: BotVersion) -> timedelta | None:
        """Return the time between heartbeats; None for a version in our own processes, which needs none."""
        if isinstance(version.protocol, BuiltinProtocol | TransformersProtocol):
            return None
        return timedelta(seconds=self.settings.heartbeat_seconds)

    @contextmanager
    def probing(self, team: str | None) -> Iterator[None]:
        """Count a probe against its team's limit while the block runs; raises TooManyProbes."""
        if self._probing[team] >= self.settings.probes_per_team:
            raise TooManyProbes(running=self._probing[team], retry_after_seconds=5)
        self._probing[team] += 1
        try:
            yield
        finally:
            self._probing[team] -= 1

    async def model_of(self, session: ReadSession, bot: Bot, version: BotVersion) -> WorkerModel | None:
        """Return the model that a `transformers` version loads; None for other protocols.

        Raises ModelFilesChanged if the files of a hosted model differ from the registered ones, or if the model was
        removed.
        """
        protocol = version.protocol
        if not isinstance(protocol, TransformersProtocol | TritonProtocol) or getattr(protocol, "url", None):
            return None
        hosted = await hosted_models_store.find_model(session, protocol.model)
        directory: Path | None = None
        if hosted is None and isinstance(protocol, TransformersProtocol):
            directory = await asyncio.to_thread(self.folder.find, protocol.model)
        if version.files_sha256 and directory is None and (not hosted or hosted.files_sha256 != version.files_sha256):
            raise ModelFilesChanged(model=protocol.model, bot_id=bot.id)
        if isinstance(protocol, TritonProtocol):
            return None
        return self.hosted(hosted) if hosted else self.unhosted(protocol, directory)

    def hosted(self, model: HostedModel) -> WorkerModel:
        """Return the worker's model for a hosted model."""
        return WorkerModel(
            dialogue_kind.KIND,
            str(self.folder.directory_of(model.name, model.directory)),
            model.name,
            device=model.device,
            dtype=model.dtype,
            max_batch_size=model.max_batch_size,
            max_queue_delay_ms=model.max_queue_delay_ms,
        )

    def unhosted(self, protocol: TransformersProtocol, directory: Path | None) -> WorkerModel:
        """Return the worker's model for a directory of the models folder, else for a name on a model hub."""
        return WorkerModel(dialogue_kind.KIND, str(directory or protocol.model), protocol.model, protocol.revision)
