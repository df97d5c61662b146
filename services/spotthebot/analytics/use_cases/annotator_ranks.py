"""What annotators see of a game."""

from functools import partial
from typing import Final
from uuid import UUID

from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.contracts.analytics.leaderboard import AnnotatorRankOut
from spotthebot.kit.waits.memo import Memo

_MAX_CAMPAIGNS: Final = 100


class AnnotatorRanks:
    """The ranks of annotators by campaign, read again after some seconds at the earliest.

    They change with every package that is submitted, and those who submit one look at them.
    """

    def __init__(self, results: ResultCache, *, kept_seconds: float) -> None:
        self._results = results
        self._kept = Memo[UUID, tuple[AnnotatorRankOut, ...]](seconds=kept_seconds, max_kept=_MAX_CAMPAIGNS)

    async def list(self, campaign_id: UUID) -> tuple[AnnotatorRankOut, ...]:
        """Return the ranks, best first; raises NoSuchCampaign, OtherProtocol and OneKindOnly."""
        return await self._kept.get(campaign_id, partial(self._results.get_annotator_ranks, campaign_id))
