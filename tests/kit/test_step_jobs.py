"""Step jobs on tables of a tiny service: work in steps that are squares, cancelled, killed and taken over."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement

from spotthebot.kit.database import Database, schema_metadata
from spotthebot.kit.errors import Conflict, Unavailable
from spotthebot.kit.ids import new_id
from spotthebot.kit.jobs import Blueprint, Jobs
from spotthebot.kit.step_jobs.lifecycle import ACTIVE, TRANSITIONS, StepJob, StepJobState
from spotthebot.kit.step_jobs.runner import Prepare, PreparedWork, StepJobs
from spotthebot.kit.step_jobs.tables import step_job_tables
from tests.factories.databases import Databases, DatabaseUrls

SCHEMA = "annotation"  # a schema with job tables and without step jobs of its own
METADATA = schema_metadata(SCHEMA)
TABLES = step_job_tables(METADATA)


def _statements(table: Table) -> list[DDLElement]:
    return [CreateTable(table), *(CreateIndex(index) for index in table.indexes)]


_DIALECT = postgresql.dialect()
DDL = ";\n".join(
    str(statement.compile(dialect=_DIALECT)) for table in METADATA.sorted_tables for statement in _statements(table)
)
ROOT = Path(__file__).parents[2]
WORKER = """
import asyncio, sys
from spotthebot.kit.database import Database, schema_metadata
from spotthebot.kit.jobs import Blueprint, Jobs
from spotthebot.kit.step_jobs.runner import PreparedWork, StepJobs
from spotthebot.kit.step_jobs.tables import step_job_tables

class Slow:
    steps = 3

    async def compute(self, step):
        with open(sys.argv[2], "a") as file:
            file.write(f"begin-{step}\\n")
        await asyncio.sleep(0.8)
        return {"step": step}

    async def assemble(self, results):
        return {"steps": [each["step"] for each in results]}

async def prepare(context, job):
    return PreparedWork(Slow())

async def main():
    tasks = Blueprint()
    tables = step_job_tables(schema_metadata("annotation"))
    StepJobs(tables, schema="annotation", task="square").add_task(tasks, prepare)
    jobs = Jobs(sys.argv[1], "annotation", stalled_after_seconds=2.0)
    await jobs.work(tasks, concurrency=1, context={"database": Database(sys.argv[1], pool_size=1)})

asyncio.run(main())
"""


class PeerIsAway(Unavailable):
    """The peer does not answer."""


@dataclass
class Squares:
    """Four steps, each a square; `before_step` is awaited before a step is computed."""

    factor: int = 1
    steps: int = 4
    computed: list[int] = field(default_factory=list)
    before_step: Callable[[int], Awaitable[None]] | None = None

    async def compute(self, step: int) -> Mapping[str, Any]:
        if self.before_step is not None:
            await self.before_step(step)
        self.computed.append(step)
        return {"square": self.factor * step**2}

    async def assemble(self, results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        return {"squares": [result["square"] for result in results]}


@dataclass
class Service:
    """A tiny service with step jobs."""

    url: str
    database: Database
    jobs: StepJobs = field(default_factory=lambda: StepJobs(TABLES, schema=SCHEMA, task="square", retried=[PeerIsAway]))

    async def start(self, subject_id: UUID | None = None) -> UUID:
        queue = Jobs(self.url, SCHEMA)
        async with self.database.write() as session:
            return await self.jobs.start(session, queue, "squares", {"n": 4}, subject_id=subject_id, version="1")

    async def get(self, job_id: UUID) -> StepJob:
        async with self.database.read() as session:
            job = await self.jobs.store.find_job(session, job_id)
        assert job is not None
        return job

    async def run(self, job_id: UUID, work: Squares, **more: Any) -> None:
        await self.jobs.run(self.database, job_id, _prepares(work, **more))

    async def cancel(self, job_id: UUID) -> None:
        async with self.database.write() as session:
            await self.jobs.store.cancel_job(session, job_id)


def _prepares(work: Squares, **more: Any) -> Prepare:
    async def prepare(_job: StepJob) -> PreparedWork:
        return PreparedWork(work, **more)

    return prepare


@pytest.fixture
def database_urls(databases: Databases) -> Iterator[DatabaseUrls]:
    """A database of this test's own, with tables of step jobs."""
    with databases.lend(schema=SCHEMA, more=DDL) as urls:
        yield urls


@pytest.fixture
async def service(database_urls: DatabaseUrls) -> AsyncIterator[Service]:
    url = database_urls.app[SCHEMA]
    database = Database(url, pool_size=4)
    yield Service(url, database)
    await database.close()


class TestLifecycle:
    def test_names_every_state(self):
        assert set(TRANSITIONS) == set(StepJobState)

    def test_is_active_until_it_ends(self):
        assert set(ACTIVE) == {StepJobState.QUEUED, StepJobState.RUNNING}


class TestStart:
    async def test_stores_no_job_when_the_transaction_rolls_back(self, service: Service):
        with pytest.raises(RuntimeError):
            async with service.database.write() as session:
                await service.jobs.start(session, Jobs(service.url, SCHEMA), "k", {}, subject_id=None, version="1")
                raise RuntimeError
        async with service.database.read() as session:
            assert await service.jobs.store.list_jobs(session, subject_id=None, after=None, limit=10) == []

    async def test_lists_the_jobs_of_a_subject_oldest_first(self, service: Service):
        subject = new_id()
        ids = [await service.start(subject) for _ in range(3)]
        await service.start(new_id())
        async with service.database.read() as session:
            first = await service.jobs.store.list_jobs(session, subject_id=subject, after=None, limit=2)
            rest = await service.jobs.store.list_jobs(session, subject_id=subject, after=first[-1].id, limit=2)
        assert [job.id for job in first + rest] == ids


class TestRun:
    async def test_computes_every_step_and_completes_with_the_result(self, service: Service):
        job_id, work = await service.start(), Squares()
        await service.run(job_id, work, inputs={"rows": 4}, fingerprint="f")
        job = await service.get(job_id)
        assert (job.state, job.done, job.steps) == (StepJobState.COMPLETE, 4, 4)
        assert (job.inputs, job.fingerprint, job.result) == ({"rows": 4}, "f", {"squares": [0, 1, 4, 9]})
        assert job.finished_at is not None
        assert work.computed == [0, 1, 2, 3]

    async def test_shows_how_many_steps_are_done(self, service: Service):
        job_id = await service.start()
        progress = []

        async def note(_step: int) -> None:
            job = await service.get(job_id)
            progress.append((job.state, job.done, job.steps))

        await service.run(job_id, Squares(before_step=note))
        assert progress == [(StepJobState.RUNNING, done, 4) for done in range(4)]

    async def test_leaves_a_complete_job_as_it_is(self, service: Service):
        job_id, again = await service.start(), Squares(factor=9)
        await service.run(job_id, Squares())
        await service.run(job_id, again)
        assert again.computed == []
        assert (await service.get(job_id)).result == {"squares": [0, 1, 4, 9]}

    async def test_finds_the_latest_complete_job_of_a_subject(self, service: Service):
        subject = new_id()
        first, second, _ = [await service.start(subject) for _ in range(3)]
        await service.run(second, Squares(factor=2))
        await service.run(first, Squares())
        async with service.database.read() as session:
            found = await service.jobs.store.find_latest_complete(session, subject, "squares")
            other = await service.jobs.store.find_latest_complete(session, subject, "cubes")
        assert found is not None
        assert (found.id, other) == (second, None)


class TestResume:
    async def test_continues_at_the_first_missing_step(self, service: Service):
        job_id, second = await service.start(), Squares()

        async def die(step: int) -> None:
            if step == 2:
                raise asyncio.CancelledError  # as a worker that is stopped does

        with pytest.raises(asyncio.CancelledError):
            await service.run(job_id, Squares(before_step=die))
        assert (await service.get(job_id)).done == 2
        await service.run(job_id, second)
        assert second.computed == [2, 3]
        assert (await service.get(job_id)).result == {"squares": [0, 1, 4, 9]}

    async def test_computes_every_step_again_after_the_inputs_changed(self, service: Service):
        job_id, second = await service.start(), Squares(factor=2)

        async def die(step: int) -> None:
            if step == 2:
                raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await service.run(job_id, Squares(before_step=die), fingerprint="old")
        await service.run(job_id, second, fingerprint="new")
        assert second.computed == [0, 1, 2, 3]
        assert (await service.get(job_id)).result == {"squares": [0, 2, 8, 18]}

    async def test_continues_in_another_worker_after_a_kill(self, service: Service, tmp_path: Path):
        job_id, note = await service.start(), tmp_path / "note"
        arguments = ("-c", WORKER, service.url, str(note))
        first = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT)
        async with asyncio.timeout(60):
            while not note.exists() or "begin-1" not in note.read_text():
                await asyncio.sleep(0.05)
        first.send_signal(signal.SIGKILL)
        await first.wait()
        second = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT)
        try:
            async with asyncio.timeout(60):
                while (await service.get(job_id)).state is not StepJobState.COMPLETE:
                    await asyncio.sleep(0.1)
        finally:
            second.terminate()
            await second.wait()
        assert note.read_text().split() == ["begin-0", "begin-1", "begin-1", "begin-2"]
        assert (await service.get(job_id)).result == {"steps": [0, 1, 2]}


class TestCancel:
    async def test_ends_a_job_between_two_steps(self, service: Service):
        job_id = await service.start()

        async def cancel(step: int) -> None:
            if step == 1:
                await service.cancel(job_id)

        work = Squares(before_step=cancel)
        await service.run(job_id, work)
        job = await service.get(job_id)
        assert (job.state, job.done, job.result) == (StepJobState.CANCELLED, 1, None)
        assert work.computed == [0, 1]

    async def test_ends_a_job_before_its_first_step(self, service: Service):
        job_id, work = await service.start(), Squares()
        await service.cancel(job_id)
        await service.run(job_id, work)
        assert ((await service.get(job_id)).state, work.computed) == (StepJobState.CANCELLED, [])

    async def test_ends_a_job_whose_work_is_being_prepared(self, service: Service):
        job_id, work = await service.start(), Squares()

        async def prepare(job: StepJob) -> PreparedWork:
            await service.cancel(job.id)
            return PreparedWork(work)

        await service.jobs.run(service.database, job_id, prepare)
        assert ((await service.get(job_id)).state, work.computed) == (StepJobState.CANCELLED, [])

    async def test_leaves_a_complete_job_as_it_is(self, service: Service):
        job_id = await service.start()
        await service.run(job_id, Squares())
        await service.cancel(job_id)
        assert (await service.get(job_id)).state is StepJobState.COMPLETE


class TestConcurrentWorkers:
    async def test_refuses_the_results_of_a_run_that_was_taken_over(self, service: Service):
        job_id = await service.start()
        reached, go_on = asyncio.Event(), asyncio.Event()

        async def wait(step: int) -> None:
            if step == 2:
                reached.set()
                await go_on.wait()

        slow = asyncio.create_task(service.run(job_id, Squares(before_step=wait), fingerprint="old"))
        await reached.wait()

        async def release(step: int) -> None:
            if step == 2:
                go_on.set()
                await slow

        await service.run(job_id, Squares(factor=2, before_step=release), fingerprint="new")
        job = await service.get(job_id)
        assert (job.fingerprint, job.result) == ("new", {"squares": [0, 2, 8, 18]})

    async def test_completes_once_when_two_workers_run_the_same_job(self, service: Service):
        job_id = await service.start()

        async def yield_to_the_other(_step: int) -> None:
            await asyncio.sleep(0.01)

        works = [Squares(before_step=yield_to_the_other) for _ in range(2)]
        await asyncio.gather(*(service.run(job_id, work) for work in works))
        job = await service.get(job_id)
        assert (job.state, job.done, job.result) == (StepJobState.COMPLETE, 4, {"squares": [0, 1, 4, 9]})


class TestFailures:
    async def test_fails_with_the_detail_of_an_error(self, service: Service):
        job_id = await service.start()

        async def prepare(_job: StepJob) -> PreparedWork:
            raise Conflict

        await service.jobs.run(service.database, job_id, prepare)
        job = await service.get(job_id)
        assert (job.state, job.failure) == (StepJobState.FAILED, "The request does not fit the present state.")

    async def test_fails_without_detail_and_raises_an_unexpected_error(self, service: Service):
        job_id = await service.start()

        async def break_down(_step: int) -> None:
            message = "a secret"
            raise RuntimeError(message)

        with pytest.raises(RuntimeError):
            await service.run(job_id, Squares(before_step=break_down))
        job = await service.get(job_id)
        assert job.state is StepJobState.FAILED
        assert job.failure is not None
        assert "secret" not in job.failure

    async def test_stays_active_while_a_peer_may_answer_again(self, service: Service):
        job_id, work = await service.start(), Squares()

        async def prepare(_job: StepJob) -> PreparedWork:
            raise PeerIsAway

        with pytest.raises(PeerIsAway):
            await service.jobs.run(service.database, job_id, prepare)
        assert (await service.get(job_id)).state is StepJobState.QUEUED
        await service.run(job_id, work)
        assert (await service.get(job_id)).state is StepJobState.COMPLETE

    async def test_gives_up_after_the_last_attempt(self, service: Service):
        """One attempt that is repeated once, two seconds later, by a worker as services run it."""
        service.jobs = StepJobs(TABLES, schema=SCHEMA, task="square", retried=[PeerIsAway], max_attempts=1)
        attempts, tasks = 0, Blueprint()

        async def prepare(_context: Mapping[str, Any], _job: StepJob) -> PreparedWork:
            nonlocal attempts
            attempts += 1
            raise PeerIsAway

        service.jobs.add_task(tasks, prepare)
        job_id = await service.start()
        context = {"database": service.database}
        worker = asyncio.create_task(Jobs(service.url, SCHEMA).work(tasks, concurrency=1, context=context))
        try:
            async with asyncio.timeout(60):
                while (await service.get(job_id)).state in ACTIVE:
                    await asyncio.sleep(0.1)
        finally:
            worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await worker
        job = await service.get(job_id)
        assert (job.state, job.failure, attempts) == (StepJobState.FAILED, "The peer does not answer.", 2)
