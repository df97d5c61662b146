"""The ranks of a game's annotators, as annotators may see them."""

from functools import partial
from typing import Final
from uuid import UUID

from spotthebot.analytics.results.use_cases.result_cache import ResultCache
from spotthebot.contracts.analytics.leaderboard import AnnotatorRankOut
from spotthebot.kit.waits.memo import Memo

_MAX_CAMPAIGNS: Final = 100


class AnnotatorRanks:
    """The ranks of annotators by campaign, cached for some seconds.

    The ranks change with every submitted package, and annotators look at them after each submission.
    """

    def __init__(self, results: ResultCache, *, kept_seconds: float) -> None:
        self._results = results
        self._kept = Memo[UUID, tuple[AnnotatorRankOut, ...]](seconds=kept_seconds, max_kept=_MAX_CAMPAIGNS)

    async def list(self, campaign_id: UUID) -> tuple[AnnotatorRankOut, ...]:
        """Return the ranks, best first; raises NoSuchCampaign, OtherProtocol and OneKindOnly."""
        return await self._kept.get(campaign_id, partial(self._results.get_annotator_ranks, campaign_id))
