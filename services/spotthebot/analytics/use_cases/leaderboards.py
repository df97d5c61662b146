"""What everybody sees: the results of campaigns that were made public."""

import asyncio
import time
from typing import Final

from spotthebot.analytics.clients import Campaigns
from spotthebot.analytics.use_cases.standings import Standings
from spotthebot.contracts.analytics import PublicRankingOut

_MAX_LISTED: Final = 100


class Leaderboards:
    """The public results, asked for again after some seconds at the earliest.

    Who reads them has no key, and so no limit of requests.
    """

    def __init__(self, campaigns: Campaigns, standings: Standings, *, kept_seconds: float) -> None:
        self._kept_seconds = kept_seconds
        self._campaigns = campaigns
        self._standings = standings
        self._asked: asyncio.Task[tuple[PublicRankingOut, ...]] | None = None
        self._asked_at = 0.0

    async def list(self) -> tuple[PublicRankingOut, ...]:
        """Return the latest hundred campaigns that are public, those published last first."""
        if self._asked is None or self._is_over(self._asked):
            self._asked = asyncio.create_task(self._ask())
            self._asked_at = time.monotonic()
        # Others wait for the same answer when one of them gives up.
        return await asyncio.shield(self._asked)

    def _is_over(self, asked: asyncio.Task[tuple[PublicRankingOut, ...]]) -> bool:
        if not asked.done():
            return False
        has_failed = asked.cancelled() or asked.exception() is not None
        return has_failed or time.monotonic() - self._asked_at >= self._kept_seconds

    async def _ask(self) -> tuple[PublicRankingOut, ...]:
        published = await self._campaigns.list_published()
        latest = sorted(published, key=lambda each: str(each.published_at), reverse=True)[:_MAX_LISTED]
        found = [await self._standings.find_public(each) for each in latest]
        return tuple(each for each in found if each is not None)
