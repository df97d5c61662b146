"""Calls to `bots`: who a bot is, and what it replies."""

from collections.abc import Sequence
from http import HTTPStatus
from uuid import UUID

from spotthebot.contracts.bots import MOST_CONTEXTS, BotOut, RepliesOut
from spotthebot.conversations.domain.conversations import Conversation, Reply
from spotthebot.conversations.domain.errors import UnknownBot
from spotthebot.kit.client import PeerRefused, ServiceClient
from spotthebot.kit.ids import new_id


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
        """Ask a bot for the next turn of each conversation; a refused request fails all of its conversations.

        Asking changes nothing, so it is made safe to repeat: a bot that is busy, or away for a moment, is asked again.
        """
        replies: list[Reply] = []
        for start in range(0, len(conversations), MOST_CONTEXTS):
            batch = conversations[start : start + MOST_CONTEXTS]
            contexts = [{"turns": each.history, "seed": each.seed} for each in batch]
            try:
                answer = await self._bots.post(
                    f"/v1/bots/{bot_id}/replies", {"contexts": contexts}, idempotency_key=new_id().hex
                )
            except PeerRefused as refused:
                if refused.status in {HTTPStatus.TOO_MANY_REQUESTS, *range(500, 600)}:
                    raise
                replies.extend(Reply(None, str(refused)[:1000], 0.0) for _ in batch)
                continue
            outs = RepliesOut.model_validate(answer).replies
            replies.extend(Reply(out.text, out.failure, out.latency_ms) for out in outs)
        return replies
