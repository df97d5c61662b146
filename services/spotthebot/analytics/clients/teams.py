"""The bots of teams in `bots`, their performance in `conversations`, and the campaigns that teams may see."""

import asyncio
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final
from uuid import UUID

from spotthebot.clients import AsyncAnnotation, AsyncBots, AsyncConversations, NotFound
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.bots.registry import BotOut
from spotthebot.contracts.conversations.performance import BotPerformanceOut

_REQUESTS_AT_ONCE: Final = 16
_BOTS_AT_ONCE: Final = 100


class Teams:
    """Reads the bots of teams, and the campaigns whose results teams may see."""

    def __init__(self, bots: AsyncBots, annotation: AsyncAnnotation, conversations: AsyncConversations) -> None:
        self._bots = bots
        self._annotation = annotation
        self._conversations = conversations

    async def list_bots(self, team: str) -> list[BotOut]:
        """Return all bots of a team, oldest first."""
        # The service strips blanks around a name, and two teams may differ only by blanks.
        return [bot async for bot in self._bots.list_bots(team=team) if bot.team == team]

    async def find_public(self, bot_ids: Iterable[UUID]) -> frozenset[UUID]:
        """Return the bots whose names everybody may see."""
        requests = asyncio.Semaphore(_REQUESTS_AT_ONCE)

        async def is_public(bot_id: UUID) -> bool:
            try:
                async with requests:
                    return (await self._bots.get_bot(bot_id)).public
            except NotFound:
                return False

        ids = list(bot_ids)
        return frozenset(compress(ids, await asyncio.gather(*map(is_public, ids))))

    async def get_performance(self, bot_id: UUID, collections: Sequence[UUID] = ()) -> BotPerformanceOut:
        """Return a bot's performance in the conversations of these collections, or in all if none are given."""
        return await self._conversations.get_bot_performance(bot_id, collection_id=collections)

    async def list_released(self, bots: Sequence[BotOut]) -> list[CampaignOut]:
        """Return the campaigns with released results in which these bots take part, oldest first."""
        collections = {
            collection.id
            for at in range(0, len(bots), _BOTS_AT_ONCE)
            async for collection in self._conversations.list_collections(
                bot_id=[bot.id for bot in bots[at : at + _BOTS_AT_ONCE]]
            )
        }
        if not collections:
            return []
        released = self._annotation.list_campaigns(released=True)
        return [campaign async for campaign in released if not collections.isdisjoint(campaign.collections)]
