"""Analyses that run as step jobs: starts, cancels and prepares them."""

import asyncio
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any
from uuid import UUID

from spotthebot.analytics.analyses import store as analyses_store
from spotthebot.analytics.analyses.domain.analyses import AnalysisJob
from spotthebot.analytics.analyses.domain.steps import AnalysisSteps, divide
from spotthebot.analytics.analyses.errors import AnalysisHasEnded
from spotthebot.analytics.analyses.tables import STEP_JOBS as TABLES
from spotthebot.analytics.clients.campaign_data import CampaignData
from spotthebot.analytics.labels.domain import Sample, take_sample
from spotthebot.analytics.labels.errors import nothing_kept
from spotthebot.clients import PEER_TROUBLE
from spotthebot.contracts.analytics.analyses import AnalysisIn, AnalysisState, MoreDataIn, PlanningIn, StabilityIn
from spotthebot.contracts.analytics.rating_plans import RatingPlanningIn
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.step_jobs.lifecycle import StepJob
from spotthebot.kit.step_jobs.runner import PreparedWork, StepJobs

_LARGE = 10**6
"""Rankings of one size of a stability analysis from which its job counts as large: some seconds for each size."""
STEP_JOBS = StepJobs(TABLES, schema="analytics", task="run_analysis", retried=PEER_TROUBLE)


async def seeded(campaign_data: CampaignData, request: AnalysisIn) -> AnalysisIn:
    """Return a request with a seed. A request without a seed gets its campaign's seed; raises NoSuchCampaign."""
    if isinstance(request, PlanningIn | RatingPlanningIn):
        return request
    campaign = (await campaign_data.current_revision(request.campaign_id)).campaign
    if isinstance(request, StabilityIn) and request.seed is None:
        return request.model_copy(update={"seed": campaign.seed})
    return request


async def start_analysis(session: WriteSession, jobs: Jobs, request: AnalysisIn) -> AnalysisJob:
    """Queue an analysis."""
    campaign_id = None if isinstance(request, PlanningIn | RatingPlanningIn) else request.campaign_id
    analysis_id = await STEP_JOBS.start(
        session,
        jobs,
        request.kind,
        request.model_dump(mode="json"),
        subject_id=campaign_id,
        version=version("spotthebot"),
        is_large=isinstance(request, StabilityIn) and request.subsets * request.resamples > _LARGE,
    )
    return await analyses_store.get_analysis(session, analysis_id)


async def cancel_analysis(session: WriteSession, analysis_id: UUID) -> AnalysisJob:
    """Cancel an analysis before its next step; cancelling it again changes nothing. Raises AnalysisHasEnded."""
    await analyses_store.cancel_analysis(session, analysis_id)
    analysis = await analyses_store.get_analysis(session, analysis_id)
    if analysis.state is not AnalysisState.CANCELLED:
        raise AnalysisHasEnded(state=analysis.state)
    return analysis


async def prepare_analysis(campaign_data: CampaignData, job: StepJob) -> PreparedWork:
    """Read the campaign of an analysis and divide it into steps; raises NothingToAnalyse, OneBotOnly, NoBotsMet."""
    request = analyses_store.analysis_of(job).request
    if isinstance(request, PlanningIn | RatingPlanningIn):
        return PreparedWork(_InThreads(divide(request, None)))
    sample = await _sample(campaign_data, request)
    steps = await asyncio.to_thread(divide, request, sample)
    return PreparedWork(_InThreads(steps), sample.counts.model_dump(mode="json"), sample.sha256)


async def _sample(campaign_data: CampaignData, request: StabilityIn | MoreDataIn) -> Sample:
    labelled = await campaign_data.read(await campaign_data.current_revision(request.campaign_id))
    sample = await asyncio.to_thread(take_sample, labelled, request.filter)
    if not sample.counts.annotations:
        raise nothing_kept(request.filter, len(labelled.annotations))
    return sample


class _InThreads:
    """The steps of an analysis, computed in threads, off the event loop."""

    def __init__(self, analysis: AnalysisSteps) -> None:
        self._analysis = analysis

    @property
    def steps(self) -> int:
        return self._analysis.steps

    async def compute(self, step: int) -> Mapping[str, Any]:
        return await asyncio.to_thread(self._analysis.compute, step)

    async def assemble(self, results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        return self._analysis.assemble(results).model_dump(mode="json")
