"""What a dead worker held is carried on by those that live, even where its job has to wait in the queue."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy.engine import make_url

from spotthebot.conversations import store
from spotthebot.conversations.domain.concurrency import SlotRequest
from spotthebot.conversations.use_cases.turn_loop.maintenance import RUN_CONVERSATIONS, RUNNERS
from spotthebot.kit.database import Database
from tests.factories.databases import DatabaseUrls, PostgresServer
from tests.factories.grown_tables import RUNNER_JOB_ID, grow

TURNS = 70_000
"""So many that the runner holds some."""
MAX_ATTEMPTS = 8


@pytest.fixture
def admin_url(cluster: PostgresServer, database_urls: DatabaseUrls) -> str:
    """The URL of a superuser, who alone may load rows unchecked."""
    name = make_url(database_urls.app["conversations"]).database
    return make_url(cluster.admin_url).set(database=name).render_as_string(hide_password=False)


@pytest.fixture
async def database(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    made = Database(database_urls.app["conversations"], pool_size=2)
    yield made
    await made.close()


def _job(admin_url: str, status: str) -> None:
    """Put the job into the queue as procrastinate would, whose triggers look for their tables on the path."""
    with psycopg.connect(admin_url) as connection:
        connection.execute("SET search_path TO conversations")
        connection.execute(
            "INSERT INTO conversations.procrastinate_jobs (id, queue_name, task_name, args, status)"
            " OVERRIDING SYSTEM VALUE VALUES (%s, %s, %s, '{}', %s)",
            [RUNNER_JOB_ID, RUNNERS, RUN_CONVERSATIONS, status],
        )


def _claimed(admin_url: str) -> list[Any]:
    with psycopg.connect(admin_url) as connection:
        return connection.execute(
            "SELECT id, attempts FROM conversations.conversations WHERE runner_job_id = %s", [RUNNER_JOB_ID]
        ).fetchall()


class TestOrphans:
    @pytest.mark.parametrize(("status", "kept"), [("doing", True), ("todo", False), ("failed", False)])
    async def test_only_a_runner_at_work_keeps_conversations_and_slots(
        self, admin_url: str, database: Database, status: str, kept: bool
    ):
        grow(admin_url, TURNS)
        _job(admin_url, status)
        before = _claimed(admin_url)
        assert before
        bot = uuid4()
        requests = {bot: SlotRequest(3, limit=3, seconds=60)}
        async with database.write() as session:
            assert (await store.concurrency_slots.acquire(session, RUNNER_JOB_ID, requests))[bot].slots == 3
        async with database.write() as session:
            released = await store.claims.release_orphans(session, max_attempts=MAX_ATTEMPTS)
            await store.concurrency_slots.release_orphans(session, runners=RUN_CONVERSATIONS)
        assert released == (0 if kept else len(before))
        assert _claimed(admin_url) == (before if kept else [])
        async with database.write() as session:
            acquired = await store.concurrency_slots.acquire(session, RUNNER_JOB_ID + 1, requests)
        assert sum(each.slots for each in acquired.values()) == (0 if kept else 3)

    async def test_a_worker_that_dies_often_fails_no_conversation(self, admin_url: str, database: Database):
        grow(admin_url, TURNS)
        _job(admin_url, "todo")
        claimed = _claimed(admin_url)
        for _ in range(MAX_ATTEMPTS + 1):
            async with database.write() as session:
                assert await store.claims.release_orphans(session, max_attempts=MAX_ATTEMPTS) == len(claimed)
            with psycopg.connect(admin_url) as connection:
                connection.execute(
                    "UPDATE conversations.conversations SET runner_job_id = %s WHERE id = ANY(%s)",
                    [RUNNER_JOB_ID, [each for each, _ in claimed]],
                )
        assert _claimed(admin_url) == claimed
