"""The results of a job: its summary, its scores with their baselines, and its export.

Scores are read in batches. Each batch has a transaction of its own.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final
from uuid import UUID

from pydantic import BaseModel

from spotthebot.contracts.fed.score_jobs import BaselineOut, ContextScoresOut, ExportedScore, ScoreSetOut
from spotthebot.fed.score_sets import store as score_sets_store
from spotthebot.fed.score_sets.domain import ScoredContext, ScoreJob
from spotthebot.fed.score_sets.errors import NotScoredYet
from spotthebot.fed.scores.domain.length_baseline import LengthBaseline
from spotthebot.kit.database.sessions import Database, ReadSession
from spotthebot.kit.exports.batches import export
from spotthebot.kit.exports.formats import ExportFormat

Baselines = Mapping[str, LengthBaseline | None]


async def get_complete(session: ReadSession, set_id: UUID) -> ScoreJob:
    """Return a complete job; raises NoSuchScoreJob, NotScoredYet."""
    job = await score_sets_store.get_job(session, set_id)
    if job.dimensions is None:
        raise NotScoredYet(state=job.state)
    return job


async def get_score_set(session: ReadSession, set_id: UUID) -> ScoreSetOut:
    """Return the summary of a complete job; raises NoSuchScoreJob, NotScoredYet."""
    job = await get_complete(session, set_id)
    progress = (await score_sets_store.get_progress_of(session, [set_id]))[set_id]
    return ScoreSetOut.of(
        job,
        collection_id=job.request.collection_id,
        model_sha256=job.model_sha256 or "",
        data_sha256=job.data_sha256 or "",
        contexts=progress.contexts,
        dialogues=progress.dialogues,
        rejected=progress.rejected,
        dimensions=job.dimensions or (),
    )


def baselines_of(job: ScoreJob) -> Baselines:
    """Return the length baseline of each dimension of a complete job, in the order of its scores."""
    return {each.dimension: _line(each.baseline) for each in job.dimensions or ()}


def scores_out(context: ScoredContext, baselines: Baselines) -> ContextScoresOut:
    """Return the scores of a context by dimension, each with its length baseline."""
    return ContextScoresOut(
        conversation_id=context.conversation_id,
        turn=context.turn,
        bot=context.bot,
        length=context.length,
        turns_left_out=context.turns_left_out,
        scores=dict(zip(baselines, context.scores, strict=True)),
        length_baselines={name: _expected(line, context.length) for name, line in baselines.items()},
    )


async def export_scores(
    session: ReadSession, database: Database, set_id: UUID, form: ExportFormat
) -> AsyncIterator[bytes]:
    """Return the bytes of an export: one row for each dimension of each context, by conversation and turn."""
    job = await get_complete(session, set_id)
    progress = (await score_sets_store.get_progress_of(session, [set_id]))[set_id]
    baselines = baselines_of(job)
    rows = progress.contexts * len(baselines)
    return export(_batches(database, job, baselines), form, ExportedScore, rows=rows)


async def _batches(database: Database, job: ScoreJob, baselines: Baselines) -> AsyncIterator[Sequence[BaseModel]]:
    async for contexts in stream_contexts(database, job.id):
        yield [row for context in contexts for row in _rows(context, job, baselines)]


def _rows(context: ScoredContext, job: ScoreJob, baselines: Baselines) -> list[ExportedScore]:
    return [
        ExportedScore(
            conversation_id=context.conversation_id,
            turn=context.turn,
            bot=context.bot,
            dimension=name,
            score=score,
            length_baseline=_expected(line, context.length),
            length=context.length,
            turns_left_out=context.turns_left_out,
            mode=job.request.scorer.mode,
            model_sha256=job.model_sha256 or "",
        )
        for (name, line), score in zip(baselines.items(), context.scores, strict=True)
    ]


def _line(baseline: BaselineOut | None) -> LengthBaseline | None:
    if baseline is None:
        return None
    return LengthBaseline(baseline.intercept, baseline.slope, baseline.r2, baseline.contexts)


def _expected(line: LengthBaseline | None, length: int) -> float | None:
    return None if line is None else line.score_of(length)


_ROWS_AT_ONCE: Final = 1000


async def stream_contexts(database: Database, job_id: UUID) -> AsyncIterator[Sequence[ScoredContext]]:
    """Yield all scored contexts of a job in batches, ordered by conversation and turn."""
    after: tuple[UUID, int] | None = None
    while True:
        async with database.read() as session:
            batch = await score_sets_store.list_in_order(session, job_id, after=after, limit=_ROWS_AT_ONCE)
        if not batch:
            return
        yield batch
        after = batch[-1].conversation_id, batch[-1].turn


async def read_contexts(database: Database, job_id: UUID) -> list[ScoredContext]:
    """Return all scored contexts of a job, ordered by conversation and turn."""
    return [each async for batch in stream_contexts(database, job_id) for each in batch]
