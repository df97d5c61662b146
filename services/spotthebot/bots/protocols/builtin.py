"""The bots that run in this process: trained when first asked, kept, and asked off the event loop."""

import asyncio
from uuid import UUID

from spotthebot.bots.clients import Corpora
from spotthebot.bots.domain.builtin import BuiltinBot, BuiltinModel, build
from spotthebot.bots.domain.dialogue import Context, Dialogue
from spotthebot.bots.domain.errors import TrainingDataChanged
from spotthebot.bots.domain.fingerprints import fingerprint_dialogues
from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.contracts.bots import BuiltinProtocol


class BuiltinSpeaker(Speaker):
    """One built-in bot. `training_sha256` is what it learned from when it was registered; None for a new one."""

    def __init__(self, protocol: BuiltinProtocol, corpora: Corpora, bot_id: UUID, training_sha256: str | None) -> None:
        self._protocol = protocol
        self._corpora = corpora
        self._bot_id = bot_id
        self._training_sha256 = training_sha256
        self._bot: BuiltinBot | None = None
        self._loading = asyncio.Lock()

    async def ask(self, context: Context, _key: str) -> str:
        bot = await self._loaded()
        return await asyncio.to_thread(bot.reply, context)

    async def _loaded(self) -> BuiltinBot:
        async with self._loading:
            if self._bot is None:
                dialogues = await training_dialogues(self._protocol, self._corpora)
                if self._training_sha256 and fingerprint_dialogues(dialogues) != self._training_sha256:
                    raise TrainingDataChanged(bot_id=self._bot_id)
                model = BuiltinModel(self._protocol.model)
                self._bot = await asyncio.to_thread(build, model, seed=self._protocol.seed, dialogues=dialogues)
            return self._bot


async def training_dialogues(protocol: BuiltinProtocol, corpora: Corpora) -> list[Dialogue]:
    """Return what a bot learns from: nothing for those that do not learn."""
    if protocol.corpus_id is None or not BuiltinModel(protocol.model).learns:
        return []
    return await corpora.dialogues(protocol.corpus_id, protocol.split)
