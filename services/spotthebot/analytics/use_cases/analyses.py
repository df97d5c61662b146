"""Analyses that run as step jobs: start, cancel, and prepare for their worker."""

import asyncio
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any
from uuid import UUID

from spotthebot.analytics import store
from spotthebot.analytics.clients.studies import Studies
from spotthebot.analytics.domain.analyses import AnalysisJob
from spotthebot.analytics.domain.analysis_steps import AnalysisSteps, divide
from spotthebot.analytics.domain.errors import AnalysisHasEnded, NothingToAnalyse
from spotthebot.analytics.domain.study import Sample, take_sample
from spotthebot.analytics.tables import STEP_JOBS as TABLES
from spotthebot.clients import PEER_TROUBLE
from spotthebot.contracts.analytics.analyses import AnalysisIn, AnalysisState, MoreDataIn, PlanningIn, StabilityIn
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.step_jobs.lifecycle import StepJob
from spotthebot.kit.step_jobs.runner import PreparedWork, StepJobs

_LARGE = 10**6
"""Rankings of one size of a stability, from which its job comes after smaller ones: some seconds for each size."""
STEP_JOBS = StepJobs(TABLES, schema="analytics", task="run_analysis", retried=PEER_TROUBLE)


async def seeded(studies: Studies, request: AnalysisIn) -> AnalysisIn:
    """Return a request with its campaign's seed where it names none; raises NoSuchCampaign."""
    if isinstance(request, PlanningIn):
        return request
    campaign = (await studies.current_revision(request.campaign_id)).campaign
    if isinstance(request, StabilityIn) and request.seed is None:
        return request.model_copy(update={"seed": campaign.seed})
    return request


async def start_analysis(session: WriteSession, jobs: Jobs, request: AnalysisIn) -> AnalysisJob:
    """Queue an analysis."""
    campaign_id = None if isinstance(request, PlanningIn) else request.campaign_id
    analysis_id = await STEP_JOBS.start(
        session,
        jobs,
        request.kind,
        request.model_dump(mode="json"),
        subject_id=campaign_id,
        version=version("spotthebot"),
        is_large=isinstance(request, StabilityIn) and request.subsets * request.resamples > _LARGE,
    )
    return await store.analyses.get_analysis(session, analysis_id)


async def cancel_analysis(session: WriteSession, analysis_id: UUID) -> AnalysisJob:
    """Cancel an analysis before its next step; cancelling it again changes nothing. Raises AnalysisHasEnded."""
    await store.analyses.cancel_analysis(session, analysis_id)
    analysis = await store.analyses.get_analysis(session, analysis_id)
    if analysis.state is not AnalysisState.CANCELLED:
        raise AnalysisHasEnded(state=analysis.state)
    return analysis


async def prepare_analysis(studies: Studies, job: StepJob) -> PreparedWork:
    """Read the campaign of an analysis and divide it into steps; raises NothingToAnalyse, or OneBotOnly."""
    request = store.analyses.analysis_of(job).request
    if isinstance(request, PlanningIn):
        return PreparedWork(_InThreads(divide(request, None)))
    sample = await _sample(studies, request)
    steps = await asyncio.to_thread(divide, request, sample)
    return PreparedWork(_InThreads(steps), sample.counts.model_dump(mode="json"), sample.sha256)


async def _sample(studies: Studies, request: StabilityIn | MoreDataIn) -> Sample:
    study = await studies.read(await studies.current_revision(request.campaign_id))
    sample = await asyncio.to_thread(take_sample, study, request.filter)
    if not sample.counts.annotations:
        raise NothingToAnalyse(filter=request.filter, annotations=len(study.annotations))
    return sample


class _InThreads:
    """An analysis's steps, computed off the event loop."""

    def __init__(self, analysis: AnalysisSteps) -> None:
        self._analysis = analysis

    @property
    def steps(self) -> int:
        return self._analysis.steps

    async def compute(self, step: int) -> Mapping[str, Any]:
        return await asyncio.to_thread(self._analysis.compute, step)

    async def assemble(self, results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        return self._analysis.assemble(results).model_dump(mode="json")
