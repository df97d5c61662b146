"""Starts, runs and cancels analyses that take their time: step by step, each kept, so that a killed one goes on."""

import asyncio
from importlib.metadata import version
from uuid import UUID

from spotthebot.analytics import store
from spotthebot.analytics.clients import Studies
from spotthebot.analytics.domain.analyses import ACTIVE, LongAnalysis
from spotthebot.analytics.domain.errors import AnalysisHasEnded, NothingToAnalyse
from spotthebot.analytics.domain.long_work import prepare
from spotthebot.analytics.domain.study import Sample, take_sample
from spotthebot.contracts.analytics import AnalysisIn, AnalysisState, PlanningIn
from spotthebot.kit.database import Database, WriteSession
from spotthebot.kit.errors import Error
from spotthebot.kit.jobs import Jobs

RUN_ANALYSIS = "analytics:run_analysis"


async def start_analysis(session: WriteSession, jobs: Jobs, studies: Studies, request: AnalysisIn) -> LongAnalysis:
    """Queue an analysis; raises NoSuchCampaign."""
    if not isinstance(request, PlanningIn):
        await studies.current_revision(request.campaign_id)
    started = await store.add_analysis(session, request, version=version("spotthebot"))
    await jobs.defer(session, RUN_ANALYSIS, {"analysis_id": str(started.id)})
    return started


async def cancel_analysis(session: WriteSession, analysis_id: UUID) -> LongAnalysis:
    """Cancel an analysis before its next step; cancelling twice is no fault. Raises AnalysisHasEnded."""
    found = await store.get_analysis(session, analysis_id, lock=True)
    if found.state not in (*ACTIVE, AnalysisState.CANCELLED):
        raise AnalysisHasEnded(state=found.state)
    await store.end_analysis(session, analysis_id, AnalysisState.CANCELLED)
    return await store.get_analysis(session, analysis_id)


async def run_analysis(database: Database, studies: Studies, analysis_id: UUID) -> None:
    """Do the steps that are not done, one by one; data that can't be analysed end the analysis as failed."""
    async with database.read() as reading:
        analysis = await store.get_analysis(reading, analysis_id)
    if analysis.state not in ACTIVE:
        return
    sample = await _sample(database, studies, analysis)
    if sample is None and not isinstance(analysis.request, PlanningIn):
        return
    try:
        work = await asyncio.to_thread(prepare, analysis.request, sample)
    except Error as error:
        await fail_analysis(database, analysis_id, error)
        return
    async with database.write() as session:
        done = await store.begin_analysis(
            session,
            analysis_id,
            steps=work.steps,
            counts=sample.counts if sample else None,
            sha256=sample.sha256 if sample else None,
        )
    for step in range(work.steps):
        if step in done:
            continue
        async with database.read() as reading:
            if not await store.is_active(reading, analysis_id):
                return
        done[step] = await asyncio.to_thread(work.compute, step)
        async with database.write() as session:
            await store.put_step(session, analysis_id, step, done[step])
    result = work.assemble([done[step] for step in range(work.steps)]).model_dump(mode="json")
    async with database.write() as session:
        await store.end_analysis(session, analysis_id, AnalysisState.COMPLETE, result=result)


async def _sample(database: Database, studies: Studies, analysis: LongAnalysis) -> Sample | None:
    request = analysis.request
    if isinstance(request, PlanningIn):
        return None
    study = await studies.read(await studies.current_revision(request.campaign_id))
    sample = await asyncio.to_thread(take_sample, study, request.filter)
    if not sample.counts.annotations:
        refused = NothingToAnalyse(filter=request.filter, annotations=len(study.annotations))
        await fail_analysis(database, analysis.id, refused)
        return None
    return sample


async def fail_analysis(database: Database, analysis_id: UUID, error: Error) -> None:
    """End an analysis that can't be done."""
    async with database.write() as session:
        await store.end_analysis(session, analysis_id, AnalysisState.FAILED, failure=error.detail)
