"""Fetches what a report shows: all results of a campaign, and how stable its ranking is, if that was computed."""

from collections.abc import Mapping
from typing import Any

from spotthebot.contracts.analytics import Analysis, AnalysisJobOut, AnalysisState, Stability
from spotthebot.suite.errors import JobFailed
from spotthebot.suite.poll import poll_until
from spotthebot.suite.progress import Steps
from spotthebot.suite.runtime.session import Clients

_ENDED = {AnalysisState.COMPLETE, AnalysisState.CANCELLED, AnalysisState.FAILED}


async def fetch_analysis(clients: Clients, campaign_id: str, parameters: Mapping[str, Any]) -> Analysis:
    """Return all results of a campaign."""
    return Analysis.model_validate(await clients.analytics.get(f"/v1/campaigns/{campaign_id}/analysis", parameters))


async def find_stability(clients: Clients, campaign_id: str) -> Stability | None:
    """Return the latest stability that was computed of a campaign."""
    latest: Stability | None = None
    async for item in clients.analytics.pages("/v1/analyses", {"campaign_id": campaign_id}):
        latest = AnalysisJobOut.model_validate(item).stability or latest
    return latest


async def compute_stability(clients: Clients, campaign_id: str, request: Mapping[str, Any], steps: Steps) -> Stability:
    """Have the stability computed and wait for it; raises JobFailed."""
    with steps.step("Computing the stability of the ranking") as step:
        body = {"kind": "stability", "campaign_id": campaign_id, **request}
        started = await clients.analytics.post("/v1/analyses", body)
        ended = await poll_until(
            clients.analytics,
            f"/v1/analyses/{started['id']}",
            lambda found: found["state"] in _ENDED,
            "The analysis of stability",
            on_progress=lambda found: step.at(found["done"], found["steps"] or None),
        )
    analysis = AnalysisJobOut.model_validate(ended)
    if analysis.stability is None:
        raise JobFailed(what="The analysis of stability", reason=analysis.failure or f"it is {analysis.state}.")
    return analysis.stability
