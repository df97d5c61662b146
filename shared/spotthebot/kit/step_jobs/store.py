"""All SQL of step jobs is here.

A worker that runs a job writes under a run id of its own. If a second worker takes over the job, it replaces the run
id. Later results of the first worker are then refused. So the results of one job never come from different inputs.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id
from spotthebot.kit.step_jobs.lifecycle import ACTIVE, StepJob, StepJobState, states_before
from spotthebot.kit.step_jobs.tables import StepJobTables


class StepJobStore:
    """Step jobs in the tables of one service."""

    def __init__(self, tables: StepJobTables) -> None:
        self._jobs, self._results = tables.jobs, tables.results

    async def add_job(
        self, session: WriteSession, kind: str, request: Mapping[str, Any], *, subject_id: UUID | None, version: str
    ) -> UUID:
        """Store a queued job and return its id."""
        job_id = new_id()
        values = {"id": job_id, "kind": kind, "subject_id": subject_id, "request": dict(request), "version": version}
        await session.execute(insert(self._jobs).values(**values, state=StepJobState.QUEUED, steps=0))
        return job_id

    async def find_job(self, session: ReadSession, job_id: UUID) -> StepJob | None:
        found = await self._select(session, [self._jobs.c.id == job_id], limit=1)
        return found[0] if found else None

    async def list_jobs(
        self, session: ReadSession, *, subject_id: UUID | None, after: UUID | None, limit: int
    ) -> list[StepJob]:
        """Return the jobs of one subject, or all jobs if `subject_id` is None, oldest first."""
        conditions = [] if subject_id is None else [self._jobs.c.subject_id == subject_id]
        if after is not None:
            conditions.append(self._jobs.c.id > after)
        return await self._select(session, conditions, limit=limit)

    async def list_active(self, session: ReadSession) -> list[UUID]:
        """Return the ids of jobs that have not ended, oldest first."""
        jobs = self._jobs.c
        return [*await session.scalars(select(jobs.id).where(jobs.state.in_(ACTIVE)).order_by(jobs.id))]

    async def count_active(self, session: ReadSession) -> dict[str, int]:
        """Count the unfinished jobs in each state. A state without jobs has the count 0."""
        jobs = self._jobs.c
        counting = select(jobs.state, func.count()).where(jobs.state.in_(ACTIVE)).group_by(jobs.state)
        found = {state: number for state, number in await session.execute(counting)}  # noqa: C416 - typed rows
        return {state.value: found.get(state.value, 0) for state in ACTIVE}

    async def find_latest_complete(self, session: ReadSession, subject_id: UUID, kind: str) -> StepJob | None:
        """Return the latest complete job of a kind about a subject; None if there is none."""
        jobs = self._jobs.c
        conditions = [jobs.subject_id == subject_id, jobs.kind == kind, jobs.state == StepJobState.COMPLETE]
        found = await self._select(session, conditions, limit=1, newest_first=True)
        return found[0] if found else None

    async def begin_run(
        self,
        session: WriteSession,
        job_id: UUID,
        run_id: UUID,
        *,
        steps: int,
        inputs: Mapping[str, Any] | None,
        fingerprint: str | None,
    ) -> dict[int, Mapping[str, Any]] | None:
        """Make this run the only one that may write results of the job.

        Return the stored results; None if the job has ended.

        Results that were computed from other inputs are deleted first.
        """
        jobs, results = self._jobs, self._results
        locked = select(jobs.c.fingerprint).where(jobs.c.id == job_id, jobs.c.state.in_(ACTIVE)).with_for_update()
        row = (await session.execute(locked)).one_or_none()
        if row is None:
            return None
        if row.fingerprint != fingerprint:
            await session.execute(delete(results).where(results.c.job_id == job_id))
        values = {"steps": steps, "fingerprint": fingerprint, "inputs": None if inputs is None else dict(inputs)}
        running = {"state": StepJobState.RUNNING, "run_id": run_id}
        await session.execute(update(jobs).where(jobs.c.id == job_id).values(**running, **values))
        stored = await session.execute(select(results.c.step, results.c.result).where(results.c.job_id == job_id))
        return {row.step: row.result for row in stored}

    async def put_result(
        self, session: WriteSession, job_id: UUID, run_id: UUID, step: int, result: Mapping[str, Any]
    ) -> bool:
        """Store the result of a step. Return False if the job has ended, or if another run has taken over the job."""
        jobs = self._jobs.c
        mine = select(jobs.id).where(jobs.id == job_id, jobs.run_id == run_id, jobs.state == StepJobState.RUNNING)
        if (await session.execute(mine.with_for_update())).one_or_none() is None:
            return False
        values = {"job_id": job_id, "step": step, "result": dict(result)}
        await session.execute(insert(self._results).values(values).on_conflict_do_nothing())
        return True

    async def complete_job(self, session: WriteSession, job_id: UUID, run_id: UUID, result: Mapping[str, Any]) -> bool:
        """Complete a job. Return False if the job has ended, or if another run has taken over the job."""
        mine = self._jobs.c.run_id == run_id
        return await self._end(session, job_id, StepJobState.COMPLETE, mine, result=dict(result))

    async def cancel_job(self, session: WriteSession, job_id: UUID) -> bool:
        """Cancel a job. If the job has already ended, change nothing and return False."""
        return await self._end(session, job_id, StepJobState.CANCELLED)

    async def fail_job(self, session: WriteSession, job_id: UUID, failure: str) -> bool:
        """End a job as failed. If the job has already ended, change nothing and return False."""
        return await self._end(session, job_id, StepJobState.FAILED, failure=failure[:1000])

    async def _end(
        self,
        session: WriteSession,
        job_id: UUID,
        state: StepJobState,
        *conditions: ColumnElement[bool],
        **values: object,
    ) -> bool:
        jobs = self._jobs
        ending = update(jobs).where(jobs.c.id == job_id, jobs.c.state.in_(states_before(state)), *conditions)
        ended = ending.values(state=state, finished_at=datetime.now(UTC), **values).returning(jobs.c.id)
        return await session.scalar(ended) is not None

    async def _select(
        self, session: ReadSession, conditions: Sequence[ColumnElement[bool]], *, limit: int, newest_first: bool = False
    ) -> list[StepJob]:
        jobs, results = self._jobs, self._results
        done = select(func.count()).where(results.c.job_id == jobs.c.id).correlate(jobs).scalar_subquery()
        order = jobs.c.id.desc() if newest_first else jobs.c.id
        rows = await session.execute(select(jobs, done).where(*conditions).order_by(order).limit(limit))
        return [_job(row, done=row[-1]) for row in rows]


def _job(row: Row[Any], *, done: int) -> StepJob:
    return from_row(StepJob, row, state=StepJobState(row.state), done=done)
