"""Analyses a campaign in this process by the statistics of the service `analytics`; no service has to run."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spotthebot.analytics.analyses.domain.steps import StabilitySteps
from spotthebot.analytics.labels.domain import LabelledCampaign, take_sample
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import analyse
from spotthebot.analytics.stats.judged.checks import NO_ANSWERS
from spotthebot.analytics.stats.judged.frames import judged_from_csv
from spotthebot.analytics.stats.judged.values import METHOD, JudgedEstimate, judged_shares
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


def analyse_judged(path: Path, confidence_level: float) -> dict[str, Any]:
    """Return each bot's fooling rate in a file of labels and a judge's answers, as the document of `--json`.

    There are the rates of people alone, of the judge alone, and of people corrected by the judge, the share of labels
    saved, and the ceiling of that share. Raises AnnotationTableMalformed and OSError.
    """
    file = judged_from_csv(path)
    ceiling = file.ceiling(confidence_level)
    return {
        "bots": [_judged_bot(each) for each in judged_shares(file.values, confidence_level=confidence_level)],
        "ceiling": {name: getattr(ceiling, name) for name in ("estimate", "low", "high", "reason", "n")},
        "confidence_level": confidence_level,
        "method": METHOD,
        "repeated_rows": file.repeated,
    }


def _judged_bot(estimate: JudgedEstimate) -> dict[str, Any]:
    judge = None if estimate.judge is not None else NO_ANSWERS
    return asdict(estimate) | {"judge": {"estimate": estimate.judge, "reason": judge}}
