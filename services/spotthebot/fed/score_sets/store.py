"""Score jobs, and the scores that they store."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, delete, func, select, tuple_
from sqlalchemy.dialects.postgresql import insert

from spotthebot.contracts.fed.score_jobs import DimensionScoresOut, ScoreJobIn, ScoreJobState
from spotthebot.contracts.repeated_texts import RepeatedTexts
from spotthebot.fed.score_sets.domain import JobProgress, RejectedConversation, ScoredContext, ScoreJob, StoredContext
from spotthebot.fed.score_sets.errors import NoSuchScoreJob
from spotthebot.fed.score_sets.tables import STEP_JOBS, ContextScoreRow, RejectedRow
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id
from spotthebot.kit.step_jobs.lifecycle import StepJob
from spotthebot.kit.step_jobs.store import StepJobStore

RATE_SECONDS = 60
_STEP_JOBS = StepJobStore(STEP_JOBS)
_DIMENSIONS: TypeAdapter[tuple[DimensionScoresOut, ...]] = TypeAdapter(tuple[DimensionScoresOut, ...])
_REPEATED: TypeAdapter[tuple[RepeatedTexts, ...]] = TypeAdapter(tuple[RepeatedTexts, ...])
_MAX_REASON = 1000


async def get_job(session: ReadSession, job_id: UUID) -> ScoreJob:
    """Return a job; raises NoSuchScoreJob."""
    job = await _STEP_JOBS.find_job(session, job_id)
    if job is None:
        raise NoSuchScoreJob(job_id=job_id)
    return score_job_of(job)


async def list_jobs(
    session: ReadSession, *, collection_id: UUID | None, after: UUID | None, limit: int
) -> list[ScoreJob]:
    """List jobs, oldest first."""
    jobs = await _STEP_JOBS.list_jobs(session, subject_id=collection_id, after=after, limit=limit)
    return [score_job_of(job) for job in jobs]


async def get_progress_of(session: ReadSession, job_ids: Sequence[UUID]) -> dict[UUID, JobProgress]:
    """Count the rows that each job has stored."""
    row = ContextScoreRow
    since = datetime.now(UTC) - timedelta(seconds=RATE_SECONDS)
    counted = select(
        row.job_id,
        func.count(),
        func.count(row.conversation_id.distinct()),
        func.count().filter(row.created_at > since),
    )
    scored = await session.execute(counted.where(row.job_id.in_(job_ids)).group_by(row.job_id))
    refused = select(RejectedRow.job_id, func.count()).where(RejectedRow.job_id.in_(job_ids))
    rejected = dict([*await session.execute(refused.group_by(RejectedRow.job_id))])
    found = {
        job_id: JobProgress(contexts, dialogues, rejected.get(job_id, 0), recent)
        for job_id, contexts, dialogues, recent in scored
    }
    return {job_id: found.get(job_id, JobProgress(0, 0, rejected.get(job_id, 0), 0)) for job_id in job_ids}


async def put_scores(
    session: WriteSession, job_id: UUID, contexts: Sequence[ScoredContext], rejected: Sequence[RejectedConversation]
) -> None:
    """Store the scores of a step; stored scores stay unchanged."""
    if contexts:
        rows = [{"id": new_id(), "job_id": job_id, **vars(each), "scores": list(each.scores)} for each in contexts]
        await session.execute(insert(ContextScoreRow).on_conflict_do_nothing(), rows)
    if rejected:
        refused = [
            {"job_id": job_id, "conversation_id": each.conversation_id, "reason": each.reason[:_MAX_REASON]}
            for each in rejected
        ]
        await session.execute(insert(RejectedRow).on_conflict_do_nothing(), refused)


async def delete_scores(session: WriteSession, job_id: UUID) -> None:
    """Delete all scores and rejections that a job has stored."""
    for row in (ContextScoreRow, RejectedRow):
        await session.execute(delete(row).where(row.job_id == job_id))


async def list_contexts(
    session: ReadSession,
    job_id: UUID,
    *,
    after: UUID | None,
    limit: int,
    bot: str | None = None,
    conversation_id: UUID | None = None,
) -> list[StoredContext]:
    """List the scores of a job in the order in which they were stored."""
    conditions: list[ColumnElement[bool]] = [ContextScoreRow.job_id == job_id]
    if conversation_id is not None:
        conditions.append(ContextScoreRow.conversation_id == conversation_id)
    if bot is not None:
        conditions.append(ContextScoreRow.bot == bot)
    if after is not None:
        conditions.append(ContextScoreRow.id > after)
    rows = await session.scalars(select(ContextScoreRow).where(*conditions).order_by(ContextScoreRow.id).limit(limit))
    return [StoredContext(row.id, _context(row)) for row in rows]


async def list_in_order(
    session: ReadSession, job_id: UUID, *, after: tuple[UUID, int] | None, limit: int
) -> list[ScoredContext]:
    """List the scores of a job by conversation and turn. The order in which workers stored them does not matter."""
    row = ContextScoreRow
    place = tuple_(row.conversation_id, row.turn)
    statement = select(row).where(row.job_id == job_id).order_by(row.conversation_id, row.turn).limit(limit)
    if after is not None:
        statement = statement.where(place > after)
    return [_context(each) for each in await session.scalars(statement)]


async def list_rejected(
    session: ReadSession, job_id: UUID, *, after: UUID | None, limit: int
) -> list[RejectedConversation]:
    """List the conversations that could not be scored, ordered by id."""
    conditions: list[ColumnElement[bool]] = [RejectedRow.job_id == job_id]
    if after is not None:
        conditions.append(RejectedRow.conversation_id > after)
    rows = await session.scalars(
        select(RejectedRow).where(*conditions).order_by(RejectedRow.conversation_id).limit(limit)
    )
    return [from_row(RejectedConversation, row) for row in rows]


def score_job_of(job: StepJob) -> ScoreJob:
    """Return a step job as a score job."""
    inputs = job.inputs or {}
    return from_row(
        ScoreJob,
        job,
        request=ScoreJobIn.model_validate(job.request["job"]),
        state=ScoreJobState(job.state),
        model_sha256=inputs.get("model_sha256"),
        data_sha256=inputs.get("data_sha256"),
        template_date=None if (written := inputs.get("template_date")) is None else date.fromisoformat(written),
        dimensions=_DIMENSIONS.validate_python(job.result["dimensions"]) if job.result else None,
        repeated_texts=_REPEATED.validate_python(job.result["repeated_texts"]) if job.result else (),
    )


def _context(row: ContextScoreRow) -> ScoredContext:
    return from_row(ScoredContext, row, scores=tuple(row.scores))
