"""Starts step jobs and runs their steps."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from procrastinate import JobContext
from sqlalchemy import text

from spotthebot.kit.database.pool_shares import pool_user
from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.errors import Error, TooMany
from spotthebot.kit.ids import new_id
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.jobs.tasks import Arguments, Task, WorkerContext
from spotthebot.kit.step_jobs.lifecycle import ACTIVE, StepJob
from spotthebot.kit.step_jobs.store import StepJobStore
from spotthebot.kit.step_jobs.tables import StepJobTables

_MAX_JOBS_OF_KEY = 20


class TooManyJobs(TooMany):
    """{waiting} jobs of this API key have not ended: cancel one, or try again in {retry_after_seconds} s."""


class StepWork(Protocol):
    """The work of a job, divided into numbered steps. The same inputs and step give the same result on every worker."""

    @property
    def steps(self) -> int: ...

    async def compute(self, step: int) -> Mapping[str, Any]:
        """Return the result of one step, as JSON. No transaction is open during the computation."""

    async def assemble(self, results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return the result of the job, as JSON. `results` has the results of all steps in order."""


@dataclass(frozen=True)
class PreparedWork:
    """Work that is ready to be computed, with a description of its inputs and a hash that identifies them.

    If an earlier run stored results for other inputs, they are computed again.
    """

    work: StepWork
    inputs: Mapping[str, Any] | None = None
    fingerprint: str | None = None


Prepare = Callable[[StepJob], Awaitable[PreparedWork]]
"""Reads the data of a job and divides it into steps. If this raises an `Error`, the job fails."""
PrepareInWorker = Callable[[Mapping[str, Any], StepJob], Awaitable[PreparedWork]]
"""As `Prepare`, with the worker's context as its first argument."""


OnEnd = Callable[[WriteSession, UUID], Awaitable[None]]
"""Called once with the id of an ended job, in the transaction that ends it."""


class StepJobs:
    """The step jobs of one service. Its worker runs them under the task name `task`.

    An error of a type in `retried` puts a job back into the queue, to run later. After `max_retries` such errors the
    job fails.
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
        """Queue a job and return its id. The job exists only if the session's transaction commits.

        API keys take turns: the more jobs of a key wait, the later its next job runs. Large jobs run after small jobs.
        At most one large and one small job of a key run at the same time. Raises TooManyJobs.
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
        """Cancel a job before its next step. A job that has ended stays unchanged."""
        await self._ended(session, job_id, await self.store.cancel_job(session, job_id))

    def task(self, prepare: PrepareInWorker) -> Task:
        """Return the task that runs jobs. The worker's context must have a `database`."""

        async def run(context: JobContext, job_id: str) -> None:
            """Run a job to its end, or until a peer that it needs does not answer."""
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
        """Compute the missing steps one by one, and complete the job. A job that has ended stays unchanged.

        An `Error` ends the job as failed, unless its type is in `retried`. An error of such a type, or of another
        class, is raised and leaves the job active.
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
