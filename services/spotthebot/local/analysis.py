"""Analyses a campaign in this process by the statistics of the service `analytics`; no service has to run."""

from collections.abc import Mapping
from typing import Any

from spotthebot.analytics.analyses.domain.steps import StabilitySteps
from spotthebot.analytics.labels.domain import LabelledCampaign, take_sample
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import analyse
from spotthebot.contracts.analytics.analyses import Stability, StabilityParameters
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.local.progress import Steps


def analyse_labelled(labelled: LabelledCampaign, parameters: Mapping[str, Any]) -> Analysis:
    """Compute every section, with parameters named as in the API; raises NothingToAnalyse and OneBotOnly."""
    return analyse(labelled, Parameters(**parameters))


def compute_stability(labelled: LabelledCampaign, request: StabilityParameters, steps: Steps) -> Stability:
    """Rank the bots on random subsets of a campaign's conversations, size by size."""
    work = StabilitySteps(request, take_sample(labelled, request.filter))
    with steps.step("Computing the stability of the ranking", work.steps) as step:
        results = []
        for at in range(work.steps):
            results.append(work.compute(at))
            step.advance()
    return work.assemble(results)
