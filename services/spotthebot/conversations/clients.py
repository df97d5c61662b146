"""Calls to `bots`: bots, their limits, and their replies."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar
from uuid import UUID

from cachetools import TTLCache

from spotthebot.clients import AsyncBots, NotFound, UnexpectedAnswer
from spotthebot.contracts.bots.registry import BotOut
from spotthebot.contracts.bots.replies import MAX_CONTEXTS, ContextIn, RepliesIn, ReplyOut
from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.conversations.conversations.errors import UnknownBot

_T = TypeVar("_T")
_KNOWN_FOR_SECONDS = 15.0
_MAX_KNOWN = 10_000
_REQUESTS_AT_ONCE = 16


class Bots:
    """The bots that take part in conversations."""

    def __init__(self, bots: AsyncBots) -> None:
        self._bots = bots
        self._known: TTLCache[UUID, BotOut] = TTLCache(_MAX_KNOWN, _KNOWN_FOR_SECONDS)

    async def get(self, bot_id: UUID) -> BotOut:
        """Return a bot in its present state; raises UnknownBot."""
        try:
            bot = await self._bots.get_bot(bot_id)
        except NotFound as refused:
            raise UnknownBot(bot_id=bot_id) from refused
        self._known[bot_id] = bot
        return bot

    async def find_named(self, name: str | None, team: str | None) -> list[BotOut]:
        """Return the bots with a name, or all bots if `name` is None; with `team`, only the team's bots."""
        listed = self._bots.list_bots(name=name, team=team or None)
        # The service strips blanks around a name, and two team names may differ only in blanks.
        return [bot async for bot in listed if team is None or bot.team == team]

    async def find_all(self, ids: Sequence[UUID]) -> tuple[BotOut, ...]:
        """Return the bots with these ids, in their present state, in the order of `ids`; unknown ids are left out."""
        return tuple(each for each in await self._gather(self._find, ids) if each is not None)

    async def recall(self, bot_id: UUID) -> BotOut:
        """Return a bot from a short-lived cache, for callers that need only its limits, which seldom change.

        Raises UnknownBot.
        """
        with suppress(KeyError):
            return self._known[bot_id]
        return await self.get(bot_id)

    async def get_all(self, ids: Sequence[UUID]) -> tuple[BotOut, ...]:
        """Return several bots in their present state and in the order of `ids`; raises UnknownBot."""
        return tuple(await self._gather(self.get, ids))

    async def list_versions(self, bot_id: UUID) -> dict[int, str]:
        """Return the hash of the configuration of each version of a bot."""
        return {each.number: each.configuration_sha256 async for each in self._bots.list_bot_versions(bot_id)}

    async def reply(self, bot_id: UUID, conversations: Sequence[Conversation]) -> tuple[ReplyOut, ...]:
        """Ask one version of a bot for the next turn of each of at most `MAX_CONTEXTS` conversations.

        Repeated requests for the same turn reach the bot under the same key. The caller repeats failed requests: see
        `conversations/domain.py`. Raises PEER_TROUBLE.
        """
        if len(conversations) > MAX_CONTEXTS:
            message = f"{len(conversations)} contexts in one request, at most {MAX_CONTEXTS} fit"
            raise ValueError(message)
        # Not validated here: `bots` validates it, and only its answer says something about the bot.
        contexts = tuple(map(_context, conversations))
        request = RepliesIn.model_construct(contexts=contexts, version=conversations[0].next_version)
        replies = (await self._bots.reply(bot_id, request)).replies
        if len(replies) != len(contexts):
            reason = f"{len(replies)} replies to {len(contexts)} contexts"
            raise UnexpectedAnswer(peer="bots", method="POST", path=f"/v1/bots/{bot_id}/replies", reason=reason)
        return replies

    async def _find(self, bot_id: UUID) -> BotOut | None:
        try:
            return await self.get(bot_id)
        except UnknownBot:
            return None

    @staticmethod
    async def _gather(call: Callable[[UUID], Awaitable[_T]], ids: Sequence[UUID]) -> list[_T]:
        """Await `call` for each id, a few at a time; raises the error of the first id that fails."""
        slots = asyncio.Semaphore(_REQUESTS_AT_ONCE)

        async def one(bot_id: UUID) -> _T:
            async with slots:
                return await call(bot_id)

        found = await asyncio.gather(*map(one, ids), return_exceptions=True)
        for each in found:
            if isinstance(each, BaseException):
                raise each
        return [each for each in found if not isinstance(each, BaseException)]


def _context(conversation: Conversation) -> ContextIn:
    return ContextIn.model_construct(
        turns=tuple(conversation.history),
        persona=conversation.next_persona,
        seed=conversation.seed,
        conversation_id=conversation.id,
        speaker=conversation.next_speaker,
        domain=conversation.domain,
    )
