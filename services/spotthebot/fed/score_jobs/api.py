"""`/v1/score-jobs`: jobs that score the bots of a collection."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.contracts.fed.score_jobs import ScoreJobIn, ScoreJobOut, ScoreJobState
from spotthebot.fed.deps import Admin, Reader, ServiceResources, Start
from spotthebot.fed.score_jobs.use_cases import cancel_score_job, start_score_job
from spotthebot.fed.score_sets import store as score_sets_store
from spotthebot.fed.score_sets.domain import JobProgress, ScoreJob
from spotthebot.fed.score_sets.store import RATE_SECONDS
from spotthebot.fed.scores.use_cases import choose_dimensions
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/score-jobs", tags=["score jobs"], route_class=IdempotentRoute)


@router.post("", status_code=202, operation_id="create_score_job")
async def create_score_job(claim: Start, resources: ServiceResources, request: ScoreJobIn) -> ScoreJobOut:
    """Start a job that scores the bots of a collection.

    Read the job again for its progress. When it is complete, its score set has the same id. The service keeps the
    likelihoods that a model computed for a context, and does not compute them again.
    """
    await resources.collections.require_ended(request.collection_id)
    session = await claim.begin()
    dimensions = await choose_dimensions(session, request.scorer)
    return _to_out(await start_score_job(session, resources.jobs, request, dimensions), JobProgress(0, 0, 0, 0))


@router.get("", operation_id="list_score_jobs")
async def list_score_jobs(
    session: Reading, _caller: Reader, paging: Paging, collection_id: Annotated[UUID | None, Query()] = None
) -> Page[ScoreJobOut]:
    """List score jobs, oldest first."""
    rows = await score_sets_store.list_jobs(
        session, collection_id=collection_id, after=paging.after, limit=paging.limit + 1
    )
    progress = await score_sets_store.get_progress_of(session, [job.id for job in rows])
    return page_of(rows, paging, key=lambda job: job.id, to_out=lambda job: _to_out(job, progress[job.id]))


@router.get("/{job_id}", operation_id="get_score_job")
async def get_score_job(session: Reading, _caller: Reader, job_id: UUID) -> ScoreJobOut:
    """Return a score job and its progress."""
    return await _out(session, await score_sets_store.get_job(session, job_id))


@router.post("/{job_id}/cancel", operation_id="cancel_score_job")
async def cancel(session: Writing, _caller: Admin, job_id: UUID) -> ScoreJobOut:
    """Cancel a job: it ends before its next step. The scores that it stored stay."""
    return await _out(session, await cancel_score_job(session, job_id))


async def _out(session: Reading, job: ScoreJob) -> ScoreJobOut:
    progress = await score_sets_store.get_progress_of(session, [job.id])
    return _to_out(job, progress[job.id])


def _to_out(job: ScoreJob, progress: JobProgress) -> ScoreJobOut:
    is_running = job.state is ScoreJobState.RUNNING
    return ScoreJobOut.of(
        job,
        collection_id=job.request.collection_id,
        contexts=progress.contexts,
        rejected=progress.rejected,
        rate_contexts_per_second=progress.recent / RATE_SECONDS if is_running and progress.recent else None,
    )
