"""Bots that run in this process. They are trained once, kept in memory, and run outside the event loop."""

import asyncio
import math
import time
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from spotthebot.bots.bots.domain import fingerprint_dialogues
from spotthebot.bots.builtin_bots.domain.builders import build
from spotthebot.bots.builtin_bots.domain.contract import BuiltinBot, BuiltinModel
from spotthebot.bots.builtin_bots.domain.plugins import PluginBot
from spotthebot.bots.builtin_bots.errors import TrainingDataChanged
from spotthebot.bots.clients import Corpora
from spotthebot.bots.protocols.speaker import Speaker
from spotthebot.bots.questions.domain.dialogue import Context, Dialogue
from spotthebot.bots.questions.domain.replies import Fault
from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.contracts.plugins import PluginGroup
from spotthebot.kit.plugins import MARK, PluginFails, find_plugin
from spotthebot.kit.waits.memo import Memo

_MAX_KEPT = 64
"""The number of bots in memory; learning bots keep their dialogues in memory."""
_CHECK_SECONDS = 10.0
"""The time for which a bot may be asked without checking that its team may still learn from its dialogues."""


@dataclass(frozen=True)
class _Recipe:
    """Everything that decides the replies of a built-in bot; the training hash is None for bots that do not learn."""

    model: str
    plugin: str | None
    seed: int
    training_sha256: str | None


class BuiltinBots:
    """Builds each built-in bot once per process, and keeps the most recently used bots.

    The check at registration builds the bot. The probe and all later questions use the bot that was built.
    """

    def __init__(self, corpora: Corpora, *, max_kept: int = _MAX_KEPT) -> None:
        self._corpora = corpora
        self._builds = Memo[_Recipe, BuiltinBot](seconds=math.inf, max_kept=max_kept)

    async def train(self, protocol: BuiltinProtocol, team: str | None) -> str | None:
        """Build a team's bot from its present corpus; return the hash of its dialogues, None if it does not learn.

        Raises UnknownCorpus, CorpusIsNeeded.
        """
        dialogues = await self._dialogues(protocol, team)
        training_sha256 = fingerprint_dialogues(dialogues) if dialogues else None
        await self._built(_recipe(protocol, training_sha256), dialogues)
        return training_sha256

    async def revision(self, protocol: BuiltinProtocol, team: str | None) -> str | None:
        """Return a text that changes with the dialogues that a team's bot may learn from; None for a bot without them.

        Raises UnknownCorpus if the team may not learn from the corpus any more.
        """
        if protocol.corpus_id is None or not _learns(protocol):
            return None
        return await self._corpora.revision(protocol.corpus_id, protocol.split, team)

    async def get(
        self, protocol: BuiltinProtocol, training_sha256: str | None, bot_id: UUID, team: str | None
    ) -> BuiltinBot:
        """Return the bot that learned from the dialogues with this hash; build the bot if it is not kept.

        Raises UnknownCorpus, and TrainingDataChanged if the dialogues that the bot may learn from have changed.
        """
        dialogues = await self._dialogues(protocol, team)
        if training_sha256 and fingerprint_dialogues(dialogues) != training_sha256:
            raise TrainingDataChanged(bot_id=bot_id)
        return await self._built(_recipe(protocol, training_sha256), dialogues)

    async def find(self, protocol: BuiltinProtocol, training_sha256: str | None) -> BuiltinBot | None:
        """Return a kept bot, if any, without asking for its corpus."""
        recipe = _recipe(protocol, training_sha256)
        return await self._built(recipe, []) if recipe in self._builds else None

    async def _built(self, recipe: _Recipe, dialogues: list[Dialogue]) -> BuiltinBot:
        """Wait for the build of a recipe, and start it if necessary.

        If the caller is cancelled, the build continues.
        """

        def make() -> BuiltinBot:
            if recipe.plugin is not None:
                return PluginBot(recipe.model, recipe.plugin, recipe.seed)
            return build(BuiltinModel(recipe.model), seed=recipe.seed, dialogues=dialogues)

        return await self._builds.get(recipe, partial(asyncio.to_thread, make))

    async def _dialogues(self, protocol: BuiltinProtocol, team: str | None) -> list[Dialogue]:
        if protocol.corpus_id is None or not _learns(protocol):
            return []
        return await self._corpora.dialogues(protocol.corpus_id, protocol.split, team)


class BuiltinSpeaker(Speaker):
    """One built-in bot; `training_sha256` is the hash of the dialogues that it learned from at registration.

    At the first question, and then at most every ten seconds, the speaker checks that the team may still learn from
    these dialogues. If the corpus became private, or its dialogues are now in a campaign, the bot stops replying.
    """

    def __init__(
        self,
        protocol: BuiltinProtocol,
        bots: BuiltinBots,
        bot_id: UUID,
        team: str | None,
        training_sha256: str | None,
    ) -> None:
        self._protocol = protocol
        self._bots = bots
        self._bot_id = bot_id
        self._team = team
        self._training_sha256 = training_sha256
        self._revision: str | None = None
        self._checked_until = 0.0
        self._checking = asyncio.Lock()

    async def ask(self, context: Context, _key: str) -> ReplyOut:
        try:
            bot = await self._find() or await self._check()
            return ReplyOut.said(await asyncio.to_thread(bot.reply, context))
        except PluginFails as fails:
            raise Fault(ReplyFailure.INVALID, str(fails)) from fails

    async def _find(self) -> BuiltinBot | None:
        is_checked = time.monotonic() < self._checked_until
        return await self._bots.find(self._protocol, self._training_sha256) if is_checked else None

    async def _check(self) -> BuiltinBot:
        async with self._checking:
            if (bot := await self._find()) is not None:
                return bot
            began = time.monotonic()
            revision = await self._bots.revision(self._protocol, self._team)  # before the dialogues that it stands for
            if revision == self._revision:
                bot = await self._bots.find(self._protocol, self._training_sha256)
            if bot is None:
                bot = await self._bots.get(self._protocol, self._training_sha256, self._bot_id, self._team)
            self._revision, self._checked_until = revision, began + _CHECK_SECONDS
            return bot


def _learns(protocol: BuiltinProtocol) -> bool:
    return protocol.plugin is None and BuiltinModel(protocol.model).learns


def _recipe(protocol: BuiltinProtocol, training_sha256: str | None) -> _Recipe:
    return _Recipe(protocol.model, protocol.plugin, protocol.seed, training_sha256)


def with_plugin(protocol: BuiltinProtocol) -> BuiltinProtocol:
    """Return the protocol with the installed distribution of a plug-in's bot; raises NoSuchPlugin and PluginFails."""
    if not protocol.model.startswith(MARK):
        return protocol.model_copy(update={"plugin": None})
    found = find_plugin(PluginGroup.BOTS, protocol.model.removeprefix(MARK))
    return protocol.model_copy(update={"plugin": found.distribution})
