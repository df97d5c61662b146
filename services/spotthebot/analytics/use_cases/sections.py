"""Several sections of a campaign at once, for which other services are asked once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from spotthebot.analytics.clients.studies import Studies
from spotthebot.analytics.domain.errors import OtherProtocol
from spotthebot.analytics.use_cases.recent_results import RecentResults
from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.contracts.analytics.sections import SectionsParametersIn
from spotthebot.kit.errors import Conflict


@dataclass
class FoundSections:
    """Sections as JSON, why others have no result, and those that are still computed; `revision` is of all of them."""

    revision: str | None = None
    results: dict[str, bytes] = field(default_factory=dict)
    refusals: dict[str, Conflict] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)


class Sections:
    """Answers several sections of one state of a campaign."""

    def __init__(self, studies: Studies, results: ResultCache, recent: RecentResults) -> None:
        self._studies = studies
        self._results = results
        self._recent = recent

    async def get(self, campaign_id: UUID, request: SectionsParametersIn) -> FoundSections:
        """Return the sections that a request names, each with its result or the Conflict that its own endpoint raises.

        Those that are not there in time are pending, and their computations end unless a thread has begun them. Raises
        NoSuchCampaign, and TooManyResults.
        """
        names = list(dict.fromkeys(request.sections))
        try:
            campaign = await self._studies.get_campaign(campaign_id)
        except OtherProtocol as refused:
            return FoundSections(refusals=dict.fromkeys(names, refused))
        if request.recent and self._recent.is_for(campaign):
            recent = self._recent
            found = FoundSections()
            await _fill(found, names, request.wait_seconds, lambda name: recent.get_of_running(campaign, name, request))
            return found
        revision = await self._studies.revision_of(campaign)
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
