"""Starts step jobs and runs them, step by step."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import text

from spotthebot.kit.database.pool_shares import pool_user
from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.errors import Error, TooMany
from spotthebot.kit.ids import new_id
from spotthebot.kit.jobs import Arguments, JobContext, Jobs, Task, WorkerContext
from spotthebot.kit.step_jobs.lifecycle import ACTIVE, StepJob
from spotthebot.kit.step_jobs.store import StepJobStore
from spotthebot.kit.step_jobs.tables import StepJobTables

_MAX_JOBS_OF_KEY = 20


class TooManyJobs(TooMany):
    """{waiting} jobs of this API key have not ended: cancel one, or try again in {retry_after_seconds} s."""


class StepWork(Protocol):
    """A job as numbered steps; the same inputs and step give the same result, whichever worker computes it."""

    @property
    def steps(self) -> int: ...

    async def compute(self, step: int) -> Mapping[str, Any]:
        """Return the result of one step, as JSON; computing takes place outside of any transaction."""

    async def assemble(self, results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Make the result of the job, as JSON, of the results of all steps in their order."""


@dataclass(frozen=True)
class PreparedWork:
    """Work that is ready to be computed, with a description of its inputs and a hash that identifies them.

    Results that were stored by an earlier run over other inputs are computed again.
    """

    work: StepWork
    inputs: Mapping[str, Any] | None = None
    fingerprint: str | None = None


Prepare = Callable[[StepJob], Awaitable[PreparedWork]]
"""Reads what a job needs and divides it into steps; an `Error` that it raises ends the job as failed."""
PrepareInWorker = Callable[[Mapping[str, Any], StepJob], Awaitable[PreparedWork]]
"""As `Prepare`, with the worker's context as its first argument."""


OnEnd = Callable[[WriteSession, UUID], Awaitable[None]]
"""Called once with the id of a job that has ended, in the transaction that ends it."""


class StepJobs:
    """The step jobs of one service: `task` is the name under which its worker runs them.

    An error among `retried` puts a job back into the queue, to be run later; after `max_retries` of that it fails.
    """

    def __init__(
        self,
        tables: StepJobTables,
        *,
        schema: str,
        task: str,
        retried: Sequence[type[Error]] = (),
        max_retries: int = 8,
        on_end: OnEnd | None = None,
    ) -> None:
        self.store = StepJobStore(tables)
        self._schema, self._task = schema, task
        self._on_end = on_end
        self._retried, self._max_retries = tuple(retried), max_retries

    async def start(
        self,
        session: WriteSession,
        jobs: Jobs,
        kind: str,
        request: Mapping[str, Any],
        *,
        subject_id: UUID | None,
        version: str,
        is_large: bool = False,
    ) -> UUID:
        """Queue a job that exists only if the session's transaction commits; return its id.

        Keys take turns: the more jobs of a key wait, the later comes its next one. Large jobs come after small ones,
        and one key has one large and one small job running at most. Raises TooManyJobs.
        """
        user = pool_user.get()
        lock = None if user is None else f"{self._task} {user.name} {'large' if is_large else 'small'}"
        waiting = 0 if user is None else await self._count_unfinished(session, user.name)
        if waiting >= _MAX_JOBS_OF_KEY:
            raise TooManyJobs(waiting=waiting, retry_after_seconds=60)
        job_id = await self.store.add_job(session, kind, request, subject_id=subject_id, version=version)
        priority = -waiting - (_MAX_JOBS_OF_KEY if is_large else 0)
        arguments = {"job_id": str(job_id)}
        await jobs.defer(session, f"{self._schema}:{self._task}", arguments, lock=lock, priority=priority)
        return job_id

    async def _count_unfinished(self, session: WriteSession, name: str) -> int:
        counting = text(f"""
            SELECT count(*) FROM {self._schema}.procrastinate_jobs
            WHERE lock IN (:small, :large) AND status IN ('todo', 'doing')
        """)  # noqa: S608 - a schema of ours
        locks = {size: f"{self._task} {name} {size}" for size in ("small", "large")}
        return int(await session.scalar(counting, locks) or 0)

    async def cancel(self, session: WriteSession, job_id: UUID) -> None:
        """Cancel a job before its next step; one that has ended stays as it is."""
        await self._ended(session, job_id, await self.store.cancel_job(session, job_id))

    def task(self, prepare: PrepareInWorker) -> Task:
        """Return the task that runs jobs, for a worker whose context holds its `database`."""

        async def run(context: JobContext, job_id: str) -> None:
            """Run a job to its end, or until a needed peer does not answer."""
            worker = context.additional_context
            await self.run(worker["database"], UUID(job_id), lambda job: prepare(worker, job))

        async def fail(worker: WorkerContext, arguments: Arguments, reason: str) -> None:
            await self._fail(worker["database"], UUID(arguments["job_id"]), reason)

        async def list_unfinished(session: ReadSession) -> list[Arguments]:
            return [{"job_id": str(job_id)} for job_id in await self.store.list_active(session)]

        return Task(
            self._task,
            run,
            fail=fail,
            list_unfinished=list_unfinished,
            retried=self._retried,
            max_retries=self._max_retries,
        )

    async def run(self, database: Database, job_id: UUID, prepare: Prepare) -> None:
        """Compute the steps that are missing, one by one, and complete the job; a job that has ended is left as it is.

        An `Error` ends the job as failed, unless it is one of those that are retried; these, and errors of other kinds,
        are raised and leave the job active.
        """
        async with database.read() as reading:
            job = await self.store.find_job(reading, job_id)
        if job is None or job.state not in ACTIVE:
            return
        try:
            await self._run(database, job, await prepare(job))
        except self._retried:
            raise
        except Error as error:
            await self._fail(database, job_id, error.detail)

    async def _run(self, database: Database, job: StepJob, prepared: PreparedWork) -> None:
        work, run_id = prepared.work, new_id()
        async with database.write() as session:
            results = await self.store.begin_run(
                session,
                job.id,
                run_id,
                steps=work.steps,
                inputs=prepared.inputs,
                fingerprint=prepared.fingerprint,
            )
        if results is None:  # cancelled meanwhile
            return
        for step in range(work.steps):
            if step in results:
                continue
            results[step] = await work.compute(step)
            async with database.write() as session:
                if not await self.store.put_result(session, job.id, run_id, step, results[step]):
                    return
        result = await work.assemble([results[step] for step in range(work.steps)])
        async with database.write() as session:
            await self._ended(session, job.id, await self.store.complete_job(session, job.id, run_id, result))

    async def _fail(self, database: Database, job_id: UUID, failure: str) -> None:
        async with database.write() as session:
            await self._ended(session, job_id, await self.store.fail_job(session, job_id, failure))

    async def _ended(self, session: WriteSession, job_id: UUID, by_this: bool) -> None:  # noqa: FBT001 - what a store said
        if by_this and self._on_end is not None:
            await self._on_end(session, job_id)
