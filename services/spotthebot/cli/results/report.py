"""Reads reports of campaigns and studies from the services: results, designs, samples, names of annotators."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from uuid import UUID

from spotthebot.cli.results import ranking
from spotthebot.clients import Conflict, Invalid, NotFound
from spotthebot.clients.analytics_parameters import ComputedMeasures
from spotthebot.contracts.analytics.analyses import AnalysisState, Stability, StabilityIn
from spotthebot.contracts.analytics.choices import MixedModelKind, RankRule
from spotthebot.contracts.analytics.measures import MeasureOut, MeasureResult
from spotthebot.contracts.analytics.mixed_models import MixedModel
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.measures import HEADLINE
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.local.background import poll_until
from spotthebot.local.errors import JobFailed
from spotthebot.local.progress import Steps
from spotthebot.local.report.analysis_report import AnalysisReport
from spotthebot.local.report.campaign_data import read_design, read_samples
from spotthebot.local.report.study_report import MeasuresReport, StudyReport
from spotthebot.local.runtime.session import Clients

_NO_OUTCOME: Final = (
    "The study names no outcome, so its bots have no ranking and nothing says which of its measures deserve trust."
)
_ENDED = {AnalysisState.COMPLETE, AnalysisState.CANCELLED, AnalysisState.FAILED}


@dataclass(frozen=True)
class ReportRequest:
    """The options of a report; the stability is computed if it has a rule, mixed models if it names a kind.

    `computed` adds measures of a campaign that no annotator gives. `periods` are the days on which periods of agreement
    begin.
    """

    parameters: Mapping[str, Any]
    computed: ComputedMeasures
    mixed_model: MixedModelKind | None
    stability_rule: RankRule | None
    has_names: bool
    samples: int
    periods: Sequence[date]


async def read_analysis_report(
    clients: Clients, campaign: CampaignOut, request: ReportRequest, steps: Steps
) -> AnalysisReport:
    """Read the report of a campaign by Spot The Bot; raises JobFailed."""
    # Asked first: a key that may not see names is refused before anything is computed.
    names = await get_annotator_names(clients, campaign.id) if request.has_names else None
    with steps.step("Computing the results", total=1):
        analysis = await ranking.rank(clients, campaign.id, request.parameters)
        ratings = await ranking.find_interactor_ratings(clients, analysis, campaign.id, request.parameters)
    with steps.step("Reading conversations", total=1):
        design = await read_design(clients, campaign)
        shown = await read_samples(clients, design, analysis.filter, request.samples) if request.samples else None
    if request.stability_rule is None:
        # A stability that was computed is of people's labels alone.
        stable = None if "judges" in request.parameters else await find_stability(clients, campaign.id)
    else:
        resampling = StabilityIn(
            campaign_id=campaign.id,
            filter=request.parameters["filter"],
            rule=request.stability_rule,
            seed=analysis.seed,
        )
        stable = await compute_stability(clients, resampling, steps)
    return AnalysisReport(analysis, stable, names, design, shown, ratings)


async def read_measures_report(
    clients: Clients, campaign: CampaignOut, request: ReportRequest, steps: Steps
) -> MeasuresReport:
    """Read the report of a campaign by another protocol than Spot The Bot."""
    parameters, computed = request.parameters, request.computed
    with steps.step("Computing the results", total=1):
        measures = await clients.analytics.list_measures(campaign.id, **computed, **parameters)
        headline = await clients.analytics.get_measure(campaign.id, HEADLINE, **parameters)
        workforces = await clients.analytics.list_workforce_agreements(
            campaign.id, period=request.periods, **parameters
        )
    models = await _read_mixed_models(
        {each.measure: each for each in measures.measures},
        lambda name: clients.analytics.get_measure(
            campaign.id, name, mixed_model=request.mixed_model, **computed, **parameters
        ),
        request,
        steps,
    )
    with steps.step("Reading conversations", total=1):
        design = await read_design(clients, campaign)
    return MeasuresReport(headline, measures, design, workforces, models)


async def read_study_report(clients: Clients, study: StudyOut, request: ReportRequest, steps: Steps) -> StudyReport:
    """Read the report of a study; a reason takes the place of a ranking or assessment that can't be computed."""
    parameters = request.parameters
    reasons = [] if study.outcome is not None else [_NO_OUTCOME]
    outcome = assessment = None
    with steps.step("Computing the results", total=1):
        every = await clients.analytics.list_study_measures(study.id, **parameters)
        workforces = (
            await clients.analytics.list_study_workforce_agreements(study.id, period=request.periods, **parameters)
            if study.campaigns
            else None
        )
        if study.outcome is not None:
            try:
                outcome = await clients.analytics.get_study_measure(study.id, study.outcome, **parameters)
                assessment = await clients.analytics.assess_study(study.id, **parameters)
            except (Conflict, Invalid, NotFound) as refused:
                reasons.append(refused.problem.detail)
        shown = outcome
        if shown is None and every.measures:
            shown = await clients.analytics.get_study_measure(study.id, every.measures[0].name, **parameters)
    models = await _read_mixed_models(
        {each.name: each for each in every.measures},
        lambda name: clients.analytics.get_study_measure(study.id, name, mixed_model=request.mixed_model, **parameters),
        request,
        steps,
    )
    campaigns = [await clients.annotation.get_campaign(each) for each in study.campaigns]
    return StudyReport(
        measures=every,
        outcome=outcome,
        assessment=assessment,
        reason=" ".join(reasons) or None,
        campaigns=tuple(campaigns),
        marked=() if shown is None else shown.speakers,
        workforces=workforces,
        mixed_models=models,
    )


async def _read_mixed_models(
    measures: Mapping[str, MeasureResult],
    read: Callable[[str], Awaitable[MeasureOut]],
    request: ReportRequest,
    steps: Steps,
) -> dict[str, MixedModel]:
    """Have a mixed model fitted to each measure with values that people give; nothing if the request names no kind."""
    if request.mixed_model is None:
        return {}
    names = [name for name, each in measures.items() if each.kind != "preference" and each.ends and each.n]
    found = {}
    with steps.step("Fitting mixed models", total=len(names)) as step:
        for name in names:
            model = (await read(name)).mixed_model
            if model is not None:
                found[name] = model
            step.advance()
    return found


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
