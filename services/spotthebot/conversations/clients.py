"""Calls to `bots`: who a bot is, what it bears, and what it replies."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from spotthebot.contracts.bots import MAX_CONTEXTS, BotOut, RepliesOut, ReplyOut
from spotthebot.conversations.domain.conversations import Conversation, Reply
from spotthebot.conversations.domain.errors import UnknownBot
from spotthebot.kit.client import PeerRefused, ServiceClient

_KNOWN_FOR_SECONDS = 15.0


@dataclass(frozen=True)
class _Known:
    bot: BotOut
    until: float


class Bots:
    """The bots that take part in conversations."""

    def __init__(self, bots: ServiceClient) -> None:
        self._bots = bots
        self._known: dict[UUID, _Known] = {}

    async def get(self, bot_id: UUID) -> BotOut:
        """Return a bot as it is now; raises UnknownBot."""
        try:
            bot = BotOut.model_validate(await self._bots.get(f"/v1/bots/{bot_id}"))
        except PeerRefused as refused:
            if refused.status == 404:
                raise UnknownBot(bot_id=bot_id) from refused
            raise
        now = time.monotonic()
        self._known = {known: each for known, each in self._known.items() if each.until > now}
        self._known[bot_id] = _Known(bot, now + _KNOWN_FOR_SECONDS)
        return bot

    async def recall(self, bot_id: UUID) -> BotOut:
        """Return a bot as it was a moment ago, for what changes seldom: its limits. Raises UnknownBot."""
        known = self._known.get(bot_id)
        return known.bot if known is not None and known.until > time.monotonic() else await self.get(bot_id)

    async def reply(self, bot_id: UUID, conversations: Sequence[Conversation]) -> list[Reply]:
        """Ask one version of a bot for the next turn of each of at most `MAX_CONTEXTS` conversations.

        Whoever asks again for the same turn asks the bot under the same key. Nothing is repeated here: what is to be
        done meanwhile is the caller's to say. Raises PeerRefused and PeerUnavailable.
        """
        if len(conversations) > MAX_CONTEXTS:
            message = f"{len(conversations)} contexts in one request, at most {MAX_CONTEXTS} fit"
            raise ValueError(message)
        body = {"contexts": [_context(each) for each in conversations], "version": conversations[0].next_version}
        answer = await self._bots.post(f"/v1/bots/{bot_id}/replies", body)
        return [_reply(out) for out in RepliesOut.model_validate(answer).replies]


def _context(conversation: Conversation) -> dict[str, Any]:
    return {
        "turns": conversation.history,
        "seed": conversation.seed,
        "conversation_id": str(conversation.id),
        "speaker": conversation.next_speaker,
        "domain": conversation.domain,
    }


def _reply(out: ReplyOut) -> Reply:
    return Reply(out.text if out.failure is None else None, out.failure, out.detail, out.latency_ms)
