"""Several sections of a campaign at once. Each other service gets only one request."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from spotthebot.analytics.clients.campaign_data import CampaignData
from spotthebot.analytics.clients.errors import OtherProtocol
from spotthebot.analytics.results.use_cases.recent_results import RecentResults
from spotthebot.analytics.results.use_cases.result_cache import ResultCache
from spotthebot.contracts.analytics.sections import SectionsParametersIn
from spotthebot.kit.errors import Conflict


@dataclass
class FoundSections:
    """The sections of one `revision`: results of finished sections as JSON, problems, and sections still running."""

    revision: str | None = None
    results: dict[str, bytes] = field(default_factory=dict)
    refusals: dict[str, Conflict] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)


class Sections:
    """Returns several sections of one state of a campaign."""

    def __init__(self, campaign_data: CampaignData, results: ResultCache, recent: RecentResults) -> None:
        self._campaign_data = campaign_data
        self._results = results
        self._recent = recent

    async def get(self, campaign_id: UUID, request: SectionsParametersIn) -> FoundSections:
        """Return the requested sections, each with its result or the Conflict that its own endpoint raises.

        Sections that are not finished in time are pending. Their computations are cancelled, unless a thread has
        started them. Raises NoSuchCampaign and TooManyResults.
        """
        names = list(dict.fromkeys(request.sections))
        try:
            campaign = await self._campaign_data.get_campaign(campaign_id)
        except OtherProtocol as refused:
            return FoundSections(refusals=dict.fromkeys(names, refused))
        if request.recent and not request.judges and self._recent.is_for(campaign):
            recent = self._recent
            found = FoundSections()
            await _fill(found, names, request.wait_seconds, lambda name: recent.get_of_running(campaign, name, request))
            return found
        revision = await self._campaign_data.revision_of(campaign, judges=request.judges)
        kept = await self._results.find_kept(campaign_id, revision.revision, names, request)
        found = FoundSections(revision.revision, kept)
        missing = [name for name in names if name not in kept]
        await _fill(
            found, missing, request.wait_seconds, lambda name: self._results.compute_at(revision, name, request)
        )
        return found


async def _fill(
    found: FoundSections, names: Sequence[str], seconds: float | None, get: Callable[[str], Awaitable[bytes]]
) -> None:
    if not names:
        return
    tasks = {name: asyncio.ensure_future(get(name)) for name in names}
    try:
        await asyncio.wait(tasks.values(), timeout=seconds)
    finally:
        found.pending += [name for name, task in tasks.items() if not task.done()]
        for name in found.pending:
            tasks[name].cancel()
        ended = await asyncio.gather(*tasks.values(), return_exceptions=True)
    for name, end in zip(tasks, ended, strict=True):
        if name in found.pending:
            continue
        if isinstance(end, Conflict):
            found.refusals[name] = end
        elif isinstance(end, BaseException):
            raise end
        else:
            found.results[name] = end
