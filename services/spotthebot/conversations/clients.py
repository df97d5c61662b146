"""Calls to `bots`: who a bot is, and what it replies."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from uuid import UUID

from spotthebot.contracts.bots import MOST_CONTEXTS, BotOut, RepliesOut, ReplyFailure, ReplyOut
from spotthebot.conversations.domain.conversations import Conversation, Reply
from spotthebot.conversations.domain.errors import UnknownBot
from spotthebot.kit.client import PeerRefused, ServiceClient
from spotthebot.kit.ids import new_id

_ASKED_AGAIN = {ReplyFailure.CIRCUIT_OPEN, ReplyFailure.RATE_LIMITED, ReplyFailure.UNREACHABLE}


class Bots:
    """The bots that take part in conversations."""

    def __init__(self, bots: ServiceClient) -> None:
        self._bots = bots

    async def get(self, bot_id: UUID) -> BotOut:
        """Return a bot; raises UnknownBot."""
        try:
            return BotOut.model_validate(await self._bots.get(f"/v1/bots/{bot_id}"))
        except PeerRefused as refused:
            if refused.status == 404:
                raise UnknownBot(bot_id=bot_id) from refused
            raise

    async def reply(self, bot_id: UUID, conversations: Sequence[Conversation]) -> list[Reply]:
        """Ask one version of a bot for the next turn of each conversation; a refused request fails all of them.

        Asking changes nothing, so it is made safe to repeat: a bot that is busy, or away for a moment, is asked again,
        and gets the question under the same key.
        """
        replies: list[Reply] = []
        for start in range(0, len(conversations), MOST_CONTEXTS):
            batch = conversations[start : start + MOST_CONTEXTS]
            body = {"contexts": [_context(each) for each in batch], "version": batch[0].next_version}
            try:
                answer = await self._bots.post(f"/v1/bots/{bot_id}/replies", body, idempotency_key=new_id().hex)
            except PeerRefused as refused:
                if refused.status in {HTTPStatus.TOO_MANY_REQUESTS, *range(500, 600)}:
                    raise
                replies.extend(Reply(None, str(refused)[:1000], 0.0) for _ in batch)
                continue
            outs = RepliesOut.model_validate(answer).replies
            replies.extend(_reply(out) for out in outs)
        return replies


def _context(conversation: Conversation) -> dict[str, Any]:
    return {
        "turns": conversation.history,
        "seed": conversation.seed,
        "conversation_id": str(conversation.id),
        "speaker": conversation.next_speaker,
        "domain": conversation.domain,
    }


def _reply(out: ReplyOut) -> Reply:
    if out.failure is None:
        return Reply(out.text, None, out.latency_ms)
    reason = f"{out.failure}: {out.detail}"[:1000]
    return Reply(None, reason, out.latency_ms, later=out.failure in _ASKED_AGAIN)
