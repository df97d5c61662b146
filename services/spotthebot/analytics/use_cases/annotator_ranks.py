"""What annotators see of a game."""

from collections import OrderedDict
from functools import partial
from typing import Final
from uuid import UUID

from spotthebot.analytics.use_cases.kept import Kept
from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.contracts.analytics import AnnotatorRankOut

_MAX_CAMPAIGNS: Final = 100


class AnnotatorRanks:
    """The ranks of annotators by campaign, read again after some seconds at the earliest.

    They change with every package that is submitted, and those who submit one look at them.
    """

    def __init__(self, results: ResultCache, *, kept_seconds: float) -> None:
        self._results = results
        self._kept_seconds = kept_seconds
        self._kept: OrderedDict[UUID, Kept[tuple[AnnotatorRankOut, ...]]] = OrderedDict()

    async def list(self, campaign_id: UUID) -> tuple[AnnotatorRankOut, ...]:
        """Return the ranks, best first; raises NoSuchCampaign, OtherProtocol and OneKindOnly."""
        kept = self._kept.setdefault(campaign_id, Kept(self._kept_seconds))
        self._kept.move_to_end(campaign_id)
        if len(self._kept) > _MAX_CAMPAIGNS:
            self._kept.popitem(last=False)
        return await kept.get(partial(self._results.get_annotator_ranks, campaign_id))
