"""No job is lost: by a stop of its worker, trouble of the database, an error nobody expected, or a lost row."""

import asyncio
import contextlib
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Self

import psycopg
import pytest
from procrastinate import JobContext, exceptions
from sqlalchemy.exc import OperationalError

from spotthebot.kit.database.sessions import Database, ReadSession, is_passing_trouble
from spotthebot.kit.errors import Unavailable
from spotthebot.kit.jobs.queue import Jobs, requeue_lost
from spotthebot.kit.jobs.tasks import UNEXPECTED, WORKER_DIED, Arguments, Task, WorkerContext
from spotthebot.kit.waits.backoff import Backoff
from tests.factories.databases import DatabaseUrls

ROOT = Path(__file__).parents[2]
SCHEMA = "conversations"
_NO_TIME = timedelta(0)
WORKER = """
import asyncio, sys
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.jobs import queue, tasks
from spotthebot.kit.service.process import _until_stopped

queue._GRACE_SECONDS = 0.3  # ten seconds outside
url, note, seconds = sys.argv[1:]

async def linger(context, number):
    with open(note, "a") as file:
        file.write("started\\n")
    await asyncio.sleep(float(seconds))
    with open(note, "a") as file:
        file.write("done\\n")

async def fail(context, arguments, reason):
    with open(note, "a") as file:
        file.write(f"failed {reason}\\n")

async def main():
    jobs = queue.Jobs(url, "conversations", stalled_after_seconds=2.0)
    task = tasks.Task("linger", linger, fail=fail, max_retries=1)
    await _until_stopped(jobs.work([task], concurrency=1, context={"database": Database(url, pool_size=1)}), None)

asyncio.run(main())
"""


class PeerIsAway(Unavailable):
    """The peer does not answer."""


def trouble(kind: type[psycopg.Error] = psycopg.errors.AdminShutdown) -> OperationalError:
    return OperationalError("SELECT 1", {}, kind("the server ends"))


@dataclass
class Queue:
    """The jobs of one schema in this test's database, and workers on it."""

    url: str
    owner_url: str
    database: Database
    failures: list[tuple[Arguments, str]] = field(default_factory=list)

    async def defer(self, **arguments: Any) -> None:
        async with self.database.write() as session:
            await Jobs(self.url, SCHEMA).defer(session, f"{SCHEMA}:work", arguments)

    def task(self, run: Callable[..., Any], **options: Any) -> Task:
        async def fail(_worker: WorkerContext, arguments: Arguments, reason: str) -> None:
            self.failures.append((arguments, reason))

        return Task("work", run, **{"fail": fail, "backoff": Backoff(0.0, 0.0), **options})

    @asynccontextmanager
    async def worker(self, task: Task) -> AsyncIterator[Jobs]:
        jobs = Jobs(self.url, SCHEMA, stalled_after_seconds=2.0)
        working = asyncio.create_task(jobs.work([task], concurrency=2, context={"database": self.database}))
        try:
            yield jobs
        finally:
            working.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await working

    def jobs(self) -> list[tuple[str, int]]:
        with psycopg.connect(self.owner_url) as connection:
            return connection.execute(
                "SELECT status::text, attempts FROM conversations.procrastinate_jobs ORDER BY id"
            ).fetchall()

    async def until(self, holds: Callable[[Self], bool], seconds: float = 30) -> None:
        async with asyncio.timeout(seconds):
            while not holds(self):
                await asyncio.sleep(0.05)


@pytest.fixture
async def queue(database_urls: DatabaseUrls) -> AsyncIterator[Queue]:
    database = Database(database_urls.app[SCHEMA], pool_size=2)
    yield Queue(database_urls.app[SCHEMA], database_urls.owner[SCHEMA], database)
    await database.close()


class TestPoliteStop:
    async def test_a_stop_queues_a_job_again_that_takes_longer_than_the_grace(self, queue: Queue, tmp_path: Path):
        note = tmp_path / "note"
        async with queue.database.write() as session:
            await Jobs(queue.url, SCHEMA).defer(session, f"{SCHEMA}:linger", {"number": 1})
        for run in range(3):
            process = await _start_worker(queue, note, seconds=60)
            await queue.until(partial(_has_started, note, run + 1))
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), 20) == 0
            assert queue.jobs() == [("todo", 0)]
        process = await _start_worker(queue, note, seconds=0.1)
        await queue.until(lambda queue: queue.jobs() == [])
        process.terminate()
        await process.wait()
        assert note.read_text().split() == ["started"] * 4 + ["done"]

    async def test_a_long_job_knows_that_its_worker_stops(self, queue: Queue):
        started, ended = asyncio.Event(), asyncio.Event()

        async def work(context: JobContext) -> None:
            started.set()
            while not context.additional_context["stopping"]():
                await asyncio.sleep(0.01)
            ended.set()

        await queue.defer()
        async with queue.worker(queue.task(work)):
            await asyncio.wait_for(started.wait(), 20)
        assert ended.is_set()
        assert queue.jobs() == []


class TestTrouble:
    @pytest.mark.parametrize("times", [1, 4])
    async def test_database_trouble_repeats_a_job_without_counting(
        self, queue: Queue, monkeypatch: pytest.MonkeyPatch, times: int
    ):
        monkeypatch.setattr("spotthebot.kit.jobs.tasks._TROUBLE_WAIT", _NO_TIME)
        attempts: list[int] = []

        async def work(context: JobContext) -> None:
            attempts.append(context.job.attempts)
            if len(attempts) <= times:
                raise trouble()

        await queue.defer()
        async with queue.worker(queue.task(work, max_retries=1)):
            await queue.until(lambda queue: queue.jobs() == [])
        assert attempts == [0] * (times + 1)
        assert queue.failures == []

    async def test_database_trouble_while_an_outcome_is_written_is_waited_out(
        self, queue: Queue, monkeypatch: pytest.MonkeyPatch
    ):
        ran = 0

        async def work(_context: JobContext) -> None:
            nonlocal ran
            ran += 1

        await queue.defer()
        async with queue.worker(queue.task(work)) as jobs:
            connector = jobs._app.connector
            execute, failed = connector.execute_query_async, 0

            async def fail_twice(query: Any, **arguments: Any) -> None:
                nonlocal failed
                if "finish_job" in query and failed < 2:
                    failed += 1
                    raise exceptions.ConnectorException from psycopg.OperationalError("the connection is lost")
                await execute(query, **arguments)

            monkeypatch.setattr(connector, "execute_query_async", fail_twice)
            await queue.until(lambda queue: queue.jobs() == [])
        assert (ran, failed) == (1, 2)

    async def test_a_worker_survives_the_loss_of_its_connections(self, queue: Queue):
        ran: list[int] = []

        async def work(_context: JobContext, number: int) -> None:
            ran.append(number)

        async with queue.worker(queue.task(work)):
            await queue.defer(number=1)
            await queue.until(lambda _: ran == [1])
            with psycopg.connect(queue.url, autocommit=True) as connection:
                cut = (
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND application_name = %s"
                )
                assert connection.execute(cut, [f"{SCHEMA}-jobs"]).rowcount > 0
            await queue.defer(number=2)
            await queue.until(lambda _: ran == [1, 2])

    @pytest.mark.parametrize(
        ("error", "passes"),
        [
            (psycopg.errors.AdminShutdown(), True),
            (psycopg.errors.CrashShutdown(), True),
            (psycopg.errors.CannotConnectNow(), True),
            (psycopg.errors.DiskFull(), True),
            (psycopg.errors.TooManyConnections(), True),
            (psycopg.errors.DeadlockDetected(), True),
            (psycopg.errors.SerializationFailure(), True),
            (psycopg.errors.LockNotAvailable(), True),
            (psycopg.OperationalError("consuming input failed"), True),
            (psycopg.InterfaceError("the connection is closed"), True),
            (psycopg.errors.QueryCanceled(), False),
            (psycopg.errors.ProgramLimitExceeded(), False),
            (psycopg.errors.UniqueViolation(), False),
            (RuntimeError(), False),
        ],
    )
    def test_database_trouble_passes_unless_the_statement_is_at_fault(self, error: Exception, passes: bool):
        """By the classes of PostgreSQL's manual, appendix A."""
        assert is_passing_trouble(error) is passes
        assert is_passing_trouble(OperationalError("SELECT 1", {}, error)) is passes


class TestErrors:
    async def test_an_unexpected_error_ends_the_row_without_its_text(self, queue: Queue):
        async def work(_context: JobContext, number: int) -> None:
            message = f"a secret about {number}"
            raise RuntimeError(message)

        await queue.defer(number=3)
        async with queue.worker(queue.task(work)):
            await queue.until(lambda queue: queue.jobs() == [("failed", 1)])
        assert queue.failures == [({"number": 3}, UNEXPECTED)]

    async def test_a_retried_error_ends_the_row_after_the_last_retry(self, queue: Queue):
        attempts: list[int] = []

        async def work(context: JobContext) -> None:
            attempts.append(context.job.attempts)
            raise PeerIsAway

        await queue.defer()
        async with queue.worker(queue.task(work, retried=(PeerIsAway,), max_retries=2)):
            await queue.until(lambda queue: queue.jobs() == [("failed", 3)])
        assert attempts == [0, 1, 2]
        assert queue.failures == [({}, "The peer does not answer.")]

    async def test_a_job_that_kills_its_worker_each_time_ends_the_row(self, queue: Queue, tmp_path: Path):
        note = tmp_path / "note"
        async with queue.database.write() as session:
            await Jobs(queue.url, SCHEMA).defer(session, f"{SCHEMA}:linger", {"number": 1})
        for run in range(2):
            process = await _start_worker(queue, note, seconds=60)
            await queue.until(partial(_has_started, note, run + 1))
            process.kill()
            await process.wait()
        process = await _start_worker(queue, note, seconds=60)
        await queue.until(lambda _: "failed" in note.read_text())
        process.terminate()
        await process.wait()
        assert note.read_text().splitlines() == ["started", "started", f"failed {WORKER_DIED}"]


class TestLostJobs:
    async def test_an_unfinished_row_without_a_job_gets_another(self, queue: Queue):
        """Its job is aborted, or is not there at all."""
        unfinished, ran = {1, 2, 3}, []
        await queue.defer(number=1)
        with psycopg.connect(queue.owner_url) as connection:
            connection.execute("SET search_path TO conversations")
            connection.execute("UPDATE procrastinate_jobs SET status = 'aborted'")

        async def work(_context: JobContext, number: int) -> None:
            ran.append(number)
            unfinished.discard(number)

        async def list_unfinished(_session: ReadSession) -> list[Arguments]:
            return [{"number": number} for number in sorted(unfinished)]

        await queue.defer(number=3)  # one that waits gets no other
        async with queue.worker(queue.task(work, list_unfinished=list_unfinished)):
            await queue.until(lambda _: not unfinished)
            await queue.until(lambda queue: queue.jobs() == [("aborted", 0)])
        assert sorted(ran) == [1, 2, 3]

    async def test_a_job_that_never_ends_its_row_is_not_queued_for_ever(self, queue: Queue):
        ran = 0

        async def work(_context: JobContext, number: int) -> None:
            nonlocal ran
            ran += number
            raise RuntimeError

        async def list_unfinished(_session: ReadSession) -> list[Arguments]:
            return [{"number": 1}]

        async with queue.worker(queue.task(work, fail=None, list_unfinished=list_unfinished)):
            await queue.until(lambda queue: len(queue.jobs()) == 3)
            await asyncio.sleep(1.5)  # three rounds
        assert ran == 3

    async def test_a_lost_job_is_queued_once_by_many_workers(self, queue: Queue):
        ran, go_on = 0, asyncio.Event()

        async def work(_context: JobContext) -> None:
            nonlocal ran
            ran += 1
            await go_on.wait()

        async def list_unfinished(_session: ReadSession) -> list[Arguments]:
            return [{}]

        task = queue.task(work, list_unfinished=list_unfinished)
        async with queue.worker(task), queue.worker(task), queue.worker(task):
            await asyncio.sleep(1.5)  # nine rounds
            assert (len(queue.jobs()), ran) == (1, 1)
            go_on.set()

    async def test_a_job_that_ends_while_the_rows_are_listed_is_not_lost(self, queue: Queue):
        """What is unfinished and what is queued are read as they are at one moment."""

        async def list_unfinished(_session: ReadSession) -> list[Arguments]:
            with psycopg.connect(queue.owner_url) as connection:
                connection.execute("SET search_path TO conversations")
                connection.execute("DELETE FROM procrastinate_jobs")
            return [{"number": 1}]

        await queue.defer(number=1)
        task = queue.task(list_unfinished, list_unfinished=list_unfinished)
        await requeue_lost(queue.database, Jobs(queue.url, SCHEMA).defer, SCHEMA, [task])
        assert queue.jobs() == []


class TestCancellation:
    async def test_a_worker_that_is_cancelled_as_it_begins_ends(self, queue: Queue):
        """procrastinate loses a cancellation that comes as its tasks take their first steps."""
        rng, longest = random.Random(7), 0.0

        async def work(_context: JobContext) -> None:
            return

        for _ in range(30):
            jobs = Jobs(queue.url, SCHEMA)
            working = asyncio.create_task(jobs.work([queue.task(work)], concurrency=1, context={}))
            await asyncio.sleep(rng.random() * 0.12)
            began = time.monotonic()
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(asyncio.shield(working), 14)
            longest = max(longest, time.monotonic() - began)
        print(f"the slowest end took {longest:.2f} s")

    async def test_a_worker_ends_whose_repair_loses_the_cancellation(self, queue: Queue):
        """`asyncio.wait_for` of Python 3.11, in psycopg's pool, drops one that comes as its work ends."""
        started = asyncio.Event()

        async def work(_context: JobContext) -> None:
            return

        async def lose_cancellation(_session: ReadSession) -> list[Arguments]:
            if not started.is_set():
                started.set()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
            return []

        task = queue.task(work, list_unfinished=lose_cancellation)
        working = asyncio.create_task(
            Jobs(queue.url, SCHEMA, stalled_after_seconds=2.0).work(
                [task], concurrency=1, context={"database": queue.database}
            )
        )
        await started.wait()
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(working), 14)


def _has_started(note: Path, times: int, _queue: Queue) -> bool:
    return note.exists() and note.read_text().count("started") >= times


async def _start_worker(queue: Queue, note: Path, *, seconds: float) -> asyncio.subprocess.Process:
    arguments = ("-c", WORKER, queue.url, str(note), str(seconds))
    return await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT)
