"""The lines to all bots that were asked lately, by version; the least recently asked are let go."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from spotthebot.bots.asking import Line
from spotthebot.bots.clients import Corpora
from spotthebot.bots.domain.bots import Bot, BotVersion
from spotthebot.bots.domain.errors import HostingMissing, SecretUnreadable
from spotthebot.bots.hosting import ModelWorkers, TritonHost, WorkerModel
from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.protocols.builtin import BuiltinSpeaker
from spotthebot.bots.protocols.remote import remote_speaker
from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.bots.protocols.transformers import TransformersSpeaker
from spotthebot.bots.protocols.triton import TritonSpeaker, over_grpc, over_http
from spotthebot.contracts.bots import BuiltinProtocol, TransformersProtocol, TritonProtocol
from spotthebot.kit.vault import Unreadable, Vault

_MAX_LINES = 2048
_MAX_BUILTIN = 64
"""Built-in bots hold what they learned in memory."""


@dataclass(frozen=True)
class Ways:
    """All that speakers are made from."""

    http: BotHttp
    """To bots: every address is judged."""
    own_http: BotHttp
    """To our own Triton, wherever the administrator put it."""
    corpora: Corpora
    vault: Vault
    workers: ModelWorkers
    triton: TritonHost | None
    triton_http: str
    """URL of our own Triton's HTTP; empty where there is none."""

    def speaker(self, version: BotVersion, bot_id: UUID, model: WorkerModel | None) -> Speaker:
        """Make the speaker of a version; `model` is what a `transformers` one loads. Raises SecretUnreadable."""
        match version.protocol:
            case TransformersProtocol() as protocol:
                return TransformersSpeaker(model or WorkerModel(protocol.model), protocol.sampling, self.workers)
            case BuiltinProtocol() as protocol:
                return BuiltinSpeaker(protocol, self.corpora, bot_id, version.training_sha256)
            case TritonProtocol(url=None) as protocol:
                return self._own_triton(protocol)
            case protocol:
                speaker = remote_speaker(protocol, self._secret(version, bot_id), self.http)
        if speaker is None:
            message = f"nobody speaks {protocol.kind}"
            raise TypeError(message)
        return speaker

    def _own_triton(self, protocol: TritonProtocol) -> Speaker:
        model, host = protocol.model, self.triton
        if host is None:
            raise HostingMissing(reason="This suite has no Triton of its own: name the server's `url`.")
        by_http = over_http(self.triton_http, model, self.own_http) if self.triton_http else None
        first, second = over_grpc(host.wire, model), by_http
        if protocol.transport == "http" and by_http is not None:
            first, second = by_http, None
        return TritonSpeaker(protocol.sampling, first, fallback=second, recover=lambda: host.recover(model))

    def _secret(self, version: BotVersion, bot_id: UUID) -> str | None:
        try:
            return self.vault.open(version.sealed_secret) if version.sealed_secret is not None else None
        except Unreadable:
            raise SecretUnreadable(bot_id=bot_id) from None


class Lines:
    """One line for each version that is asked; beyond the most that are kept, the least recently asked are closed."""

    def __init__(self, ways: Ways, on_open: Callable[[UUID, str], Awaitable[None]]) -> None:
        self.ways = ways
        self._on_open = on_open
        self._lines: OrderedDict[UUID, Line] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    def line(self, bot: Bot, version: BotVersion, model: WorkerModel | None) -> Line:
        """Return the line to a version, with the bot's present limits. Raises SecretUnreadable, HostingMissing."""
        found = self._lines.get(version.id)
        if found is None or found.limits != bot.limits:
            self.forget(version.id)
            found = self.fresh(bot, version, model, on_open=partial(self._on_open, bot.id))
            self._lines[version.id] = found
            learned = [each for each, line in self._lines.items() if isinstance(line.speaker, BuiltinSpeaker)]
            if len(learned) > _MAX_BUILTIN:
                self.forget(learned[0])
            if len(self._lines) > _MAX_LINES:
                self.forget(next(iter(self._lines)))
        self._lines.move_to_end(version.id)
        return found

    def fresh(
        self,
        bot: Bot,
        version: BotVersion,
        model: WorkerModel | None,
        *,
        on_open: Callable[[str], Awaitable[None]] | None = None,
    ) -> Line:
        """Make a line for a probe, with a circuit of its own; it is not kept, its speaker is the caller's to close."""
        speaker = self.ways.speaker(version, bot.id, model)
        return Line(f"{bot.id}/{version.number}", speaker, bot.limits, on_open or _leave_it)

    def forget(self, version_id: UUID) -> None:
        """Close a line: its secret changed, or it was not asked for long."""
        if line := self._lines.pop(version_id, None):
            task = asyncio.create_task(line.speaker.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        for version_id in list(self._lines):
            self.forget(version_id)
        await asyncio.gather(*self._closing, return_exceptions=True)


async def _leave_it(_reason: str) -> None:
    """Whoever probes judges by the report."""
