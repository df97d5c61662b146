"""What everybody sees: the results of campaigns that were made public."""

from typing import Final

from spotthebot.analytics.clients.campaigns import Campaigns
from spotthebot.analytics.use_cases.standings import Standings
from spotthebot.contracts.analytics.standings import PublicRankingOut
from spotthebot.kit.waits.memo import Memo

_MAX_LISTED: Final = 100


class Leaderboards:
    """The public results, asked for again after some seconds at the earliest.

    Who reads them has no key, and so no limit of requests.
    """

    def __init__(self, campaigns: Campaigns, standings: Standings, *, kept_seconds: float) -> None:
        self._campaigns = campaigns
        self._standings = standings
        self._kept = Memo[None, tuple[PublicRankingOut, ...]](seconds=kept_seconds)

    async def list(self) -> tuple[PublicRankingOut, ...]:
        """Return the latest hundred campaigns that are public, those published last first."""
        return await self._kept.get(None, self._ask)

    async def _ask(self) -> tuple[PublicRankingOut, ...]:
        published = await self._campaigns.list_published()
        latest = sorted(published, key=lambda each: str(each.published_at), reverse=True)[:_MAX_LISTED]
        found = [await self._standings.find_public(each) for each in latest]
        return tuple(each for each in found if each is not None)
