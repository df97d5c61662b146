"""Fetches what a report shows beside the results of a campaign: how stable its ranking is, and who annotated."""

from collections import Counter
from uuid import UUID

from spotthebot.contracts.analytics.analyses import AnalysisState, Stability, StabilityIn
from spotthebot.local.background import poll_until
from spotthebot.local.errors import JobFailed
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.session import Clients

_ENDED = {AnalysisState.COMPLETE, AnalysisState.CANCELLED, AnalysisState.FAILED}


async def find_stability(clients: Clients, campaign_id: UUID) -> Stability | None:
    """Return the latest stability that was computed of a campaign."""
    latest: Stability | None = None
    async for analysis in clients.analytics.list_analyses(campaign_id=campaign_id):
        latest = analysis.stability or latest
    return latest


async def compute_stability(clients: Clients, request: StabilityIn, steps: Steps) -> Stability:
    """Have the stability computed and wait for it; raises JobFailed."""
    with steps.step("Computing the stability of the ranking") as step:
        started = await clients.analytics.create_analysis(request)
        ended = await poll_until(
            lambda: clients.analytics.get_analysis(started.id),
            lambda found: found.state in _ENDED,
            "The analysis of stability",
            on_progress=lambda found: step.at(found.done, found.steps or None),
        )
    if ended.stability is None:
        raise JobFailed(what="The analysis of stability", reason=ended.failure or f"it is {ended.state}.")
    return ended.stability


async def get_annotator_names(clients: Clients, campaign_id: UUID) -> dict[str, str]:
    """Return the ids that annotators came with, by their names in results; for administrators.

    Two of one id came from two frontends: then both are named.
    """
    annotators = [each async for each in clients.annotation.list_annotators(campaign_id)]
    people = Counter(each.annotator for each in annotators)
    return {
        each.pseudonym: each.annotator if people[each.annotator] == 1 else f"{each.annotator} ({each.frontend})"
        for each in annotators
    }
