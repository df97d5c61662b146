"""Analyses that run as step jobs."""

from uuid import UUID

from pydantic import TypeAdapter

from spotthebot.analytics.analyses.domain.analyses import AnalysisJob
from spotthebot.analytics.analyses.errors import NoSuchAnalysis
from spotthebot.analytics.analyses.tables import STEP_JOBS
from spotthebot.contracts.analytics.analyses import AnalysisIn, AnalysisState, Plan, Stability
from spotthebot.contracts.analytics.provenance import Counts
from spotthebot.contracts.analytics.rating_plans import RatingPlan
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.step_jobs.lifecycle import StepJob
from spotthebot.kit.step_jobs.store import StepJobStore

_REQUEST: TypeAdapter[AnalysisIn] = TypeAdapter(AnalysisIn)
_STEP_JOBS = StepJobStore(STEP_JOBS)


async def get_analysis(session: ReadSession, analysis_id: UUID) -> AnalysisJob:
    job = await _STEP_JOBS.find_job(session, analysis_id)
    if job is None:
        raise NoSuchAnalysis(analysis_id=analysis_id)
    return analysis_of(job)


async def list_analyses(
    session: ReadSession, *, campaign_id: UUID | None, after: UUID | None, limit: int
) -> list[AnalysisJob]:
    jobs = await _STEP_JOBS.list_jobs(session, subject_id=campaign_id, after=after, limit=limit)
    return [analysis_of(job) for job in jobs]


async def find_stability(session: ReadSession, campaign_id: UUID) -> Stability | None:
    """Return the campaign's latest complete stability analysis; None if there is none."""
    job = await _STEP_JOBS.find_latest_complete(session, campaign_id, "stability")
    return None if job is None else analysis_of(job).stability


async def cancel_analysis(session: WriteSession, analysis_id: UUID) -> None:
    """Cancel an analysis. An analysis that has ended stays unchanged."""
    await _STEP_JOBS.cancel_job(session, analysis_id)


def analysis_of(job: StepJob) -> AnalysisJob:
    """Return a step job as an analysis."""
    is_stability, is_rating_plan = job.kind == "stability", job.kind == "rating_planning"
    is_plan = not (is_stability or is_rating_plan)
    return from_row(
        AnalysisJob,
        job,
        request=_REQUEST.validate_python(job.request),
        campaign_id=job.subject_id,
        state=AnalysisState(job.state),
        counts=None if job.inputs is None else Counts.model_validate(job.inputs),
        data_sha256=job.fingerprint,
        stability=Stability.model_validate(job.result) if job.result and is_stability else None,
        plan=Plan.model_validate(job.result) if job.result and is_plan else None,
        rating_plan=RatingPlan.model_validate(job.result) if job.result and is_rating_plan else None,
    )
