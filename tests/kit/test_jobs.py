import asyncio
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
import structlog
from procrastinate import JobContext
from procrastinate.jobs import Job

from spotthebot.kit.database.sessions import Database
from spotthebot.kit.jobs.outcomes import JobOutcomes
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.jobs.tasks import Task
from spotthebot.kit.telemetry.tracing import continued_trace, outgoing_headers
from tests.factories.databases import DatabaseUrls

ROOT = Path(__file__).parents[2]
WORKER = """
import asyncio, sys
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.jobs.tasks import Task

async def linger(context, seconds: float, note: str) -> None:
    with open(note, "a") as file:
        file.write("started\\n")
    await asyncio.sleep(seconds)
    with open(note, "a") as file:
        file.write("done\\n")

jobs = Jobs(sys.argv[1], "conversations", stalled_after_seconds=2.0)
asyncio.run(jobs.work([Task("linger", linger)], concurrency=1, context={}))
"""


def _jobs(urls: DatabaseUrls) -> list[str]:
    with psycopg.connect(urls.owner["conversations"]) as connection:
        rows = connection.execute("SELECT status::text FROM conversations.procrastinate_jobs").fetchall()
    return [status for (status,) in rows]


def _jobs_of(urls: DatabaseUrls) -> Jobs:
    return Jobs(urls.app["conversations"], "conversations")


def _connections(urls: DatabaseUrls) -> int:
    """Count the connections of workers."""
    statement = """
        SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'conversations-jobs'
    """
    with psycopg.connect(urls.app["conversations"]) as connection:
        return connection.execute(statement).rowcount


async def _end_without_jobs(worker: asyncio.Task[None], urls: DatabaseUrls) -> None:
    """Wait until no job is left, and stop the worker."""
    async with asyncio.timeout(60):
        while _jobs(urls):
            await asyncio.sleep(0.1)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)


class TestDefer:
    async def test_a_rollback_forgets_the_job(self, database_urls: DatabaseUrls):
        database = Database(database_urls.app["conversations"], pool_size=1)
        jobs = Jobs(database_urls.app["conversations"], "conversations")
        with pytest.raises(RuntimeError):
            async with database.write() as session:
                await jobs.defer(session, "conversations:x", {})
                raise RuntimeError
        assert _jobs(database_urls) == []
        async with database.write() as session:
            await jobs.defer(session, "conversations:x", {})
        assert _jobs(database_urls) == ["todo"]
        await database.close()

    async def test_a_job_may_wait_for_its_time_under_a_lock_of_its_own(self, database_urls: DatabaseUrls):
        database, jobs = (
            Database(database_urls.app["conversations"], pool_size=1),
            Jobs("postgresql://a", "conversations"),
        )
        async with database.write() as session:
            await jobs.defer(session, "conversations:x", {}, delay=timedelta(seconds=90), lock="l", queue="q")
            await jobs.defer(session, "conversations:x", {})
        with psycopg.connect(database_urls.owner["conversations"]) as connection:
            statement = (
                "SELECT extract(epoch FROM scheduled_at - now())::float, lock, queue_name"
                " FROM conversations.procrastinate_jobs ORDER BY id"
            )
            (wait, *more), at_once = connection.execute(statement).fetchall()
        assert 60 < wait <= 90
        assert (more, at_once) == (["l", "q"], (None, None, "default"))
        await database.close()

    async def test_a_job_is_repeated_without_counting_while_it_is_under_way_and_no_other_with_it(
        self, database_urls: DatabaseUrls
    ):
        database, jobs = Database(database_urls.app["conversations"], pool_size=1), _jobs_of(database_urls)
        async with database.write() as session:
            for _ in range(3):
                await jobs.defer(session, "conversations:x", {})
        with psycopg.connect(database_urls.owner["conversations"]) as connection:
            connection.execute("SET search_path TO conversations")
            connection.execute("ALTER TABLE procrastinate_jobs DISABLE TRIGGER USER")
            found = connection.execute("SELECT id FROM procrastinate_jobs ORDER BY id").fetchall()
            for (job_id,), status in zip(found, ("doing", "doing", "succeeded"), strict=True):
                connection.execute("UPDATE procrastinate_jobs SET status = %s WHERE id = %s", [status, job_id])
            connection.execute("ALTER TABLE procrastinate_jobs ENABLE TRIGGER USER")
        async with jobs._app.open_async():
            outcomes = JobOutcomes(jobs._connector)
            for (job_id,) in (found[0], found[2]):
                outcomes.uncounted.add(job_id)
                await outcomes.retry_job(Job(id=job_id, queue="q", lock=None, queueing_lock=None, task_name="x"))
        assert sorted(_jobs(database_urls)) == ["doing", "succeeded", "todo"]
        await database.close()

    async def test_a_worker_runs_what_was_deferred_and_forgets_it(self, database_urls: DatabaseUrls):
        url = database_urls.app["conversations"]
        ran = asyncio.Event()

        async def ring(_context: JobContext, times: int) -> None:
            assert times == 3
            ran.set()

        database = Database(url, pool_size=1)
        worker = asyncio.create_task(Jobs(url, "conversations").work([Task("ring", ring)], concurrency=1, context={}))
        async with database.write() as session:
            await Jobs(url, "conversations").defer(session, "conversations:ring", {"times": 3})
        await asyncio.wait_for(ran.wait(), 20)
        with psycopg.connect(database_urls.app["conversations"]) as connection:
            said = connection.execute(
                "SELECT query FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = 'conversations-jobs' AND state LIKE 'idle%'"
            ).fetchall()
        assert said
        assert {query for (query,) in said} & {"BEGIN", "COMMIT"} == set()  # single statements, no transactions
        await _end_without_jobs(worker, database_urls)
        await database.close()

    async def test_no_queue_of_a_worker_waits_for_another(self, database_urls: DatabaseUrls):
        url, freed = database_urls.app["conversations"], asyncio.Event()

        async def wait(_context: JobContext) -> None:
            await freed.wait()

        async def free(_context: JobContext) -> None:
            freed.set()

        jobs, database = Jobs(url, "conversations"), Database(url, pool_size=1)
        async with database.write() as session:
            for name in ("wait", "free"):
                await jobs.defer(session, f"conversations:{name}", {}, queue=name)
        tasks = [Task("wait", wait, queue="wait"), Task("free", free, queue="free")]
        worker = asyncio.create_task(jobs.work(tasks, concurrency={"wait": 1, "free": 1}, context={}))
        await _end_without_jobs(worker, database_urls)
        await database.close()

    async def test_a_worker_that_is_cancelled_as_it_connects_leaves_no_connection(
        self, database_urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
    ):
        jobs, connected = _jobs_of(database_urls), asyncio.Event()
        connect = jobs._connector.open_async

        async def connect_and_stay(**pool: Any) -> None:
            await connect(**pool)
            connected.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(jobs._connector, "open_async", connect_and_stay)
        working = asyncio.create_task(jobs.work([], concurrency=1, context={}))
        async with asyncio.timeout(10):
            await connected.wait()
            assert _connections(database_urls) == 1
            working.cancel()
            with pytest.raises(asyncio.CancelledError):
                await working
            while _connections(database_urls):
                await asyncio.sleep(0.01)


class TestJanitor:
    async def test_a_killed_workers_job_is_taken_up_by_another(self, database_urls: DatabaseUrls, tmp_path: Path):
        url, note = database_urls.app["conversations"], tmp_path / "note"
        database = Database(url, pool_size=1)
        async with database.write() as session:
            arguments = {"seconds": 1.5, "note": str(note)}
            await Jobs(url, "conversations").defer(session, "conversations:linger", arguments)
        await database.close()
        first = await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, url, cwd=ROOT)
        async with asyncio.timeout(30):
            while not note.exists():
                await asyncio.sleep(0.05)
        first.send_signal(signal.SIGKILL)
        await first.wait()
        assert _jobs(database_urls) == ["doing"]
        second = await asyncio.create_subprocess_exec(sys.executable, "-c", WORKER, url, cwd=ROOT)
        try:
            async with asyncio.timeout(40):
                while "done" not in note.read_text():
                    await asyncio.sleep(0.1)
        finally:
            second.terminate()
            await second.wait()
        assert note.read_text().split() == ["started", "started", "done"]

    async def test_a_job_that_only_takes_long_is_left_to_its_worker(self, database_urls: DatabaseUrls):
        url = database_urls.app["conversations"]
        started, done = 0, asyncio.Event()

        async def linger(_context: JobContext) -> None:
            nonlocal started
            started += 1
            await asyncio.sleep(4)  # twice as long as a dead worker is waited for
            done.set()

        tasks = [Task("linger", linger)]
        database = Database(url, pool_size=1)
        async with database.write() as session:
            await Jobs(url, "conversations").defer(session, "conversations:linger", {})
        await database.close()
        jobs = [Jobs(url, "conversations", stalled_after_seconds=2.0) for _ in range(2)]
        workers = [asyncio.create_task(each.work(tasks, concurrency=2, context={})) for each in jobs]
        await asyncio.wait_for(done.wait(), 30)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        assert started == 1


async def test_a_job_has_a_trace_that_names_the_one_in_which_it_was_queued(database_urls: DatabaseUrls):
    seen: list[dict[str, str]] = []
    logged: dict[str, Any] = {}
    done = asyncio.Event()

    async def look(_context: JobContext) -> None:
        seen.append(outgoing_headers())
        logged.update(structlog.contextvars.get_contextvars())
        done.set()

    jobs, database = _jobs_of(database_urls), Database(database_urls.app["conversations"], pool_size=1)
    sent = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "baggage": "study=pilot"}
    with continued_trace(sent) as caller:
        async with database.write() as session:
            await jobs.defer(session, "conversations:look", {})
    working = asyncio.create_task(jobs.work([Task("look", look)], concurrency=1, context={}))
    await done.wait()
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await database.close()
    (headers,) = seen
    assert headers["baggage"] == "study=pilot"
    assert logged["trace_id"] == headers["traceparent"].split("-")[1] != caller
    assert logged["linked_trace_id"] == caller
    assert logged["job"]
