"""Results of running campaigns. They may be some seconds old, so that people who watch a campaign do not wait.

While labels arrive, every view shows another state of the campaign, and computing it would take longer than the time
until the next view. So a fresh result is returned at once. An older result is returned too, and computed again in the
background. A result that is too old is computed again before the answer. Each result has its time in `as_of`.
"""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from spotthebot.analytics.clients.campaign_data import CampaignData, CampaignRevision
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads, SharedTasks
from spotthebot.analytics.results.use_cases.figures import Figures, Form
from spotthebot.analytics.results.use_cases.result_cache import ResultCache
from spotthebot.contracts.analytics.figures import FigureParametersIn
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.contracts.annotation.campaigns import ENDED, CampaignOut
from spotthebot.kit.waits.memo import Memo

_FRESH: Final = 1 / 2
"""The share of the age limit up to which all results are of one state, since a page shows several results."""
_COSTS_FRESH, _COSTS_USABLE = 4, 8
"""A result that took long may be older: at most a quarter of the time is spent on computing it again."""
MAX_BYTES: Final = 32 * 1024 * 1024
"""The limit for all results kept here; the least recently used are dropped."""
_MAX_CAMPAIGNS: Final = 100
"""The limit of campaigns whose states are kept; a further one costs a request."""
_UNDATED: Final = b'"as_of":null'
_Compute = Callable[["_Moment"], Awaitable[bytes]]
_Key = tuple[UUID, str, str]


@dataclass(frozen=True)
class _Moment:
    """A state of a campaign, and its time. `taken` is the same time on the monotonic clock."""

    revision: CampaignRevision
    as_of: datetime
    taken: float


@dataclass(frozen=True)
class _Recent:
    body: bytes
    taken: float
    seconds: float
    """How long the computation took."""

    def is_fresh(self, now: float, limit: float) -> bool:
        return now - self.taken < max(limit * _FRESH, self.seconds * _COSTS_FRESH)

    def is_usable(self, now: float, limit: float) -> bool:
        return now - self.taken <= max(limit, self.seconds * _COSTS_USABLE)


class RecentResults:
    """The latest answers to the questions about running campaigns."""

    def __init__(
        self,
        campaign_data: CampaignData,
        results: ResultCache,
        figures: Figures,
        *,
        threads: ComputeThreads,
        limit_seconds: float,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._campaign_data = campaign_data
        self._results = results
        self._figures = figures
        self._limit = limit_seconds
        self._max_bytes = max_bytes
        self._clock = clock
        self._moments = Memo[UUID, _Moment](seconds=limit_seconds * _FRESH, max_kept=_MAX_CAMPAIGNS, clock=clock)
        self._recent: OrderedDict[_Key, _Recent] = OrderedDict()
        self._underway = SharedTasks[_Key, bytes](threads)

    async def get(self, campaign_id: UUID, section: str, request: ParametersIn) -> bytes:
        """Return one of `SECTIONS` as JSON; raises the errors of `ResultCache.get`."""
        campaign = await self._campaign_data.get_campaign(campaign_id)
        if self.is_for(campaign) and not request.judges:
            return await self.get_of_running(campaign, section, request)
        return await self._results.get_at(await self._revision(campaign, request), section, request)

    async def get_of_running(self, campaign: CampaignOut, section: str, request: ParametersIn) -> bytes:
        """Return one of `SECTIONS` of a running campaign; raises the errors of `ResultCache.get_at`."""

        async def compute(moment: _Moment) -> bytes:
            return _dated(await self._results.get_at(moment.revision, section, request), moment.as_of)

        return await self._find(campaign, section, request, compute)

    async def draw(self, campaign_id: UUID, figure: str, form: Form, request: FigureParametersIn) -> bytes:
        """Draw a figure; raises the errors of `Figures.draw`."""
        campaign = await self._campaign_data.get_campaign(campaign_id)
        if not self.is_for(campaign) or request.judges:
            return await self._figures.draw_at(await self._revision(campaign, request), figure, form, request)

        async def draw(moment: _Moment) -> bytes:
            return await self._figures.draw_at(moment.revision, figure, form, request, as_of=moment.as_of)

        return await self._find(campaign, f"{figure}.{form}", request, draw)

    async def _revision(self, campaign: CampaignOut, request: ParametersIn) -> CampaignRevision:
        return await self._campaign_data.revision_of(campaign, judges=request.judges)

    def is_for(self, campaign: CampaignOut) -> bool:
        """Return whether a campaign has recent results. For a campaign that has ended, drop them."""
        if campaign.state in ENDED or not self._limit:
            self._forget(campaign.id)
            return False
        return True

    async def _find(self, campaign: CampaignOut, question: str, request: ParametersIn, compute: _Compute) -> bytes:
        """Return a recent answer about a running campaign. Equal questions at the same time share one computation."""
        key = (campaign.id, question, request.model_dump_json(exclude={"sections", "wait_seconds"}))
        recent = self._recent.get(key)
        if recent is not None:
            self._recent.move_to_end(key)
            if recent.is_fresh(self._clock(), self._limit):
                return recent.body
        if recent is not None and recent.is_usable(self._clock(), self._limit):
            self._underway.begin(key, lambda: self._renew(campaign, key, compute))
            return recent.body
        return await self._underway.get(key, lambda: self._renew(campaign, key, compute))

    async def _renew(self, campaign: CampaignOut, key: _Key, compute: _Compute) -> bytes:
        moment = await self._moment(campaign)
        began = self._clock()
        body = await compute(moment)
        self._recent[key] = _Recent(body, moment.taken, self._clock() - began)
        self._recent.move_to_end(key)
        self._forget_beyond_limits()
        return body

    async def _moment(self, campaign: CampaignOut) -> _Moment:
        async def ask() -> _Moment:
            as_of, taken = datetime.now(UTC), self._clock()
            return _Moment(await self._campaign_data.revision_of(campaign), as_of, taken)

        return await self._moments.get(campaign.id, ask)

    def _forget(self, campaign_id: UUID) -> None:
        for key in [each for each in self._recent if each[0] == campaign_id]:
            del self._recent[key]

    def _forget_beyond_limits(self) -> None:
        for key in [each for each, recent in self._recent.items() if not recent.is_usable(self._clock(), self._limit)]:
            del self._recent[key]
        size = sum(len(each.body) for each in self._recent.values())
        while size > self._max_bytes:
            _, oldest = self._recent.popitem(last=False)
            size -= len(oldest.body)


def _dated(body: bytes, as_of: datetime) -> bytes:
    """Return a result with its time.

    No text in the result can look like the field of the time, since quotes in texts have backslashes.
    """
    return body.replace(_UNDATED, b'"as_of":"%s"' % as_of.isoformat().encode(), 1)
