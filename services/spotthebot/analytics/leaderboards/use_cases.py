"""Public results of campaigns, for everybody."""

from typing import Final

from spotthebot.analytics.clients.campaigns import Campaigns
from spotthebot.analytics.standings.use_cases import Standings
from spotthebot.contracts.analytics.standings import PublicRankingOut
from spotthebot.kit.waits.memo import Memo

_MAX_LISTED: Final = 100


class Leaderboards:
    """The public results, cached for some seconds.

    Readers need no key, so their requests have no limit.
    """

    def __init__(self, campaigns: Campaigns, standings: Standings, *, kept_seconds: float) -> None:
        self._campaigns = campaigns
        self._standings = standings
        self._kept = Memo[None, tuple[PublicRankingOut, ...]](seconds=kept_seconds)

    async def list(self) -> tuple[PublicRankingOut, ...]:
        """Return the hundred campaigns with public results that were published last, latest publication first."""
        return await self._kept.get(None, self._ask)

    async def _ask(self) -> tuple[PublicRankingOut, ...]:
        published = await self._campaigns.list_published()
        latest = sorted(published, key=lambda each: str(each.published_at), reverse=True)[:_MAX_LISTED]
        found = [await self._standings.find_public(each) for each in latest]
        return tuple(each for each in found if each is not None)
