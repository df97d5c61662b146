"""The bots that run in this process: trained when first asked, kept, and asked off the event loop."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence
from uuid import UUID

from spotthebot.bots.clients import Corpora
from spotthebot.bots.domain.bots import Bot, fault_of, fingerprint_dialogues
from spotthebot.bots.domain.builtin import BuiltinBot, BuiltinModel, build
from spotthebot.bots.domain.dialogue import Context, Dialogue
from spotthebot.bots.domain.errors import TrainingDataChanged
from spotthebot.contracts.bots import BuiltinProtocol, ReplyOut

_MOST_LOADED = 64


class LoadedBots:
    """Built-in bots in memory; beyond sixty-four the one that was asked least recently is let go."""

    def __init__(self, corpora: Corpora) -> None:
        self._corpora = corpora
        self._loaded: OrderedDict[UUID, BuiltinBot] = OrderedDict()
        self._loading: dict[UUID, asyncio.Lock] = {}

    async def training_dialogues(self, protocol: BuiltinProtocol) -> list[Dialogue]:
        """Return what a bot learns from: nothing for those that do not learn."""
        if protocol.corpus_id is None or not BuiltinModel(protocol.model).learns:
            return []
        return await self._corpora.dialogues(protocol.corpus_id, protocol.split)

    async def replies(self, bot: Bot, contexts: Sequence[Context]) -> list[ReplyOut]:
        """Ask a bot for one reply to each context, in order."""
        speaker = await self._speaker(bot)
        return await asyncio.to_thread(lambda: [_ask(speaker, context) for context in contexts])

    async def _speaker(self, bot: Bot) -> BuiltinBot:
        async with self._loading.setdefault(bot.id, asyncio.Lock()):
            if bot.id not in self._loaded:
                self._loaded[bot.id] = await self._load(bot)
                if len(self._loaded) > _MOST_LOADED:
                    forgotten, _ = self._loaded.popitem(last=False)
                    self._loading.pop(forgotten, None)
            self._loaded.move_to_end(bot.id)
            return self._loaded[bot.id]

    async def _load(self, bot: Bot) -> BuiltinBot:
        dialogues = await self.training_dialogues(bot.protocol)
        if dialogues and fingerprint_dialogues(dialogues) != bot.training_sha256:
            raise TrainingDataChanged(bot_id=bot.id)
        model = BuiltinModel(bot.protocol.model)
        return await asyncio.to_thread(build, model, seed=bot.protocol.seed, dialogues=dialogues)


def _ask(speaker: BuiltinBot, context: Context) -> ReplyOut:
    started = time.perf_counter()
    text = speaker.reply(context)
    failure = fault_of(text)
    latency_ms = (time.perf_counter() - started) * 1000
    return ReplyOut(text=None if failure else text, failure=failure, latency_ms=latency_ms)
