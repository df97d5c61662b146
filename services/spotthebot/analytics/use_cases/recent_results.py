"""Results of running campaigns that may be some seconds old: those who watch a campaign do not wait for them.

While labels come in every view is of another state of the campaign, and to compute each would take longer than the next
view takes to come. So a result is answered while it is fresh, answered and made again when it is not any more, and
waited for when it is too old. It carries its moment, `as_of`.
"""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from spotthebot.analytics.clients.studies import ENDED, CampaignRevision, Studies
from spotthebot.analytics.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.use_cases.figures import Figures, Form
from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.analytics.use_cases.shared_tasks import SharedTasks
from spotthebot.contracts.analytics.figures import FigureParametersIn
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.kit.waits.memo import Memo

_FRESH: Final = 1 / 2
"""Share of the age up to which a result is answered, in which all results are of one state: a page shows several."""
_COSTS_FRESH, _COSTS_USABLE = 4, 8
"""A result that took long may be older: at most a quarter of the time goes into making it again and again."""
MAX_BYTES: Final = 32 * 1024 * 1024
"""Of all results that are kept here; those that were asked for least recently go."""
_MAX_CAMPAIGNS: Final = 100
"""Whose moments are kept: one more costs a question."""
_UNDATED: Final = b'"as_of":null'
_Compute = Callable[["_Moment"], Awaitable[bytes]]
_Key = tuple[UUID, str, str]


@dataclass(frozen=True)
class _Moment:
    """A state of a campaign, and when it was that; `taken` is on the monotonic clock."""

    revision: CampaignRevision
    as_of: datetime
    taken: float


@dataclass(frozen=True)
class _Recent:
    body: bytes
    taken: float
    seconds: float
    """That it took to compute."""

    def is_fresh(self, now: float, limit: float) -> bool:
        return now - self.taken < max(limit * _FRESH, self.seconds * _COSTS_FRESH)

    def is_usable(self, now: float, limit: float) -> bool:
        return now - self.taken <= max(limit, self.seconds * _COSTS_USABLE)


class RecentResults:
    """The last result of each question about running campaigns."""

    def __init__(
        self,
        studies: Studies,
        results: ResultCache,
        figures: Figures,
        *,
        threads: ComputeThreads,
        limit_seconds: float,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._studies = studies
        self._results = results
        self._figures = figures
        self._limit = limit_seconds
        self._max_bytes = max_bytes
        self._clock = clock
        self._moments = Memo[UUID, _Moment](seconds=limit_seconds * _FRESH, max_kept=_MAX_CAMPAIGNS, clock=clock)
        self._recent: OrderedDict[_Key, _Recent] = OrderedDict()
        self._underway = SharedTasks[_Key, bytes](threads)

    async def get(self, campaign_id: UUID, section: str, request: ParametersIn) -> bytes:
        """Return one of `SECTIONS` as JSON; raises what `ResultCache.get` does."""
        campaign = await self._studies.get_campaign(campaign_id)
        if self.is_for(campaign):
            return await self.get_of_running(campaign, section, request)
        return await self._results.get_at(await self._studies.revision_of(campaign), section, request)

    async def get_of_running(self, campaign: CampaignOut, section: str, request: ParametersIn) -> bytes:
        """Return one of `SECTIONS` of a campaign with recent results; raises what `ResultCache.get_at` does."""

        async def compute(moment: _Moment) -> bytes:
            return _dated(await self._results.get_at(moment.revision, section, request), moment.as_of)

        return await self._find(campaign, section, request, compute)

    async def draw(self, campaign_id: UUID, figure: str, form: Form, request: FigureParametersIn) -> bytes:
        """Draw a figure; raises what `Figures.draw` does."""
        campaign = await self._studies.get_campaign(campaign_id)
        if not self.is_for(campaign):
            return await self._figures.draw_at(await self._studies.revision_of(campaign), figure, form, request)

        async def draw(moment: _Moment) -> bytes:
            return await self._figures.draw_at(moment.revision, figure, form, request, as_of=moment.as_of)

        return await self._find(campaign, f"{figure}.{form}", request, draw)

    def is_for(self, campaign: CampaignOut) -> bool:
        """Return whether a campaign has recent results; forget those of a campaign that has ended."""
        if campaign.state in ENDED or not self._limit:
            self._forget(campaign.id)
            return False
        return True

    async def _find(self, campaign: CampaignOut, question: str, request: ParametersIn, compute: _Compute) -> bytes:
        """Return a recent answer about a running campaign; equal questions wait for one."""
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
            return _Moment(await self._studies.revision_of(campaign), as_of, taken)

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
    """Write a moment into a result; no text in it can look like the field, whose quotes would have backslashes."""
    return body.replace(_UNDATED, b'"as_of":"%s"' % as_of.isoformat().encode(), 1)
