"""What a dead worker held is carried on by those that live, even where its job has to wait in the queue."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from sqlalchemy.engine import make_url

from spotthebot.conversations.turn_loop.domain import SlotRequest
from spotthebot.conversations.turn_loop.store import claims as claims_store
from spotthebot.conversations.turn_loop.store import concurrency_slots as concurrency_slots_store
from spotthebot.conversations.turn_loop.use_cases.maintenance import RUN_CONVERSATIONS, RUNNERS
from spotthebot.kit.database.sessions import Database
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


def _one(connection: psycopg.Connection, query: str, value: object) -> tuple[Any, ...]:
    found = connection.execute(query.encode(), [value]).fetchone()
    assert found is not None
    return found


def _failed(admin_url: str, collection_id: UUID) -> int:
    with psycopg.connect(admin_url) as connection:
        (failed,) = _one(connection, "SELECT failed FROM conversations.collections WHERE id = %s", collection_id)
    return int(failed)


class TestOrphans:
    @pytest.mark.parametrize(("status", "kept"), [("doing", True), ("todo", False), ("failed", False), (None, False)])
    async def test_only_a_runner_at_work_keeps_conversations_and_slots(
        self, admin_url: str, database: Database, status: str | None, kept: bool
    ):
        grow(admin_url, TURNS)
        if status is not None:  # the rows of jobs that ended long ago are deleted
            _job(admin_url, status)
        before = _claimed(admin_url)
        assert before
        bot = uuid4()
        requests = {bot: SlotRequest(3, limit=3, seconds=60)}
        async with database.write() as session:
            assert (await concurrency_slots_store.acquire(session, RUNNER_JOB_ID, requests))[bot].slots == 3
        async with database.write() as session:
            released = await claims_store.release_orphans(session, max_attempts=MAX_ATTEMPTS)
            await concurrency_slots_store.release_orphans(session, runners=RUN_CONVERSATIONS)
        assert released == (0 if kept else len(before))
        assert _claimed(admin_url) == (before if kept else [])
        async with database.write() as session:
            acquired = await concurrency_slots_store.acquire(session, RUNNER_JOB_ID + 1, requests)
        assert sum(each.slots for each in acquired.values()) == (0 if kept else 3)

    async def test_a_worker_that_dies_often_fails_no_conversation(self, admin_url: str, database: Database):
        grow(admin_url, TURNS)
        _job(admin_url, "todo")
        claimed = _claimed(admin_url)
        for _ in range(MAX_ATTEMPTS + 1):
            async with database.write() as session:
                assert await claims_store.release_orphans(session, max_attempts=MAX_ATTEMPTS) == len(claimed)
            with psycopg.connect(admin_url) as connection:
                connection.execute(
                    "UPDATE conversations.conversations SET runner_job_id = %s WHERE id = ANY(%s)",
                    [RUNNER_JOB_ID, [each for each, _ in claimed]],
                )
        assert _claimed(admin_url) == claimed

    async def test_a_conversation_whose_runners_fail_is_failed_at_the_last_attempt_and_not_before(
        self, admin_url: str, database: Database
    ):
        collection_id = grow(admin_url, TURNS).collection_id
        _job(admin_url, "failed")
        (second_last, *_), (last, *_) = _claimed(admin_url)[:2]
        with psycopg.connect(admin_url) as connection:
            for conversation_id, attempts in ((second_last, MAX_ATTEMPTS - 2), (last, MAX_ATTEMPTS - 1)):
                connection.execute(
                    "UPDATE conversations.conversations SET attempts = %s WHERE id = %s", [attempts, conversation_id]
                )
        before = _failed(admin_url, collection_id)
        async with database.write() as session:
            await claims_store.release_orphans(session, max_attempts=MAX_ATTEMPTS)
        with psycopg.connect(admin_url) as connection:
            found = connection.execute(
                "SELECT state, attempts, failure FROM conversations.conversations WHERE id = ANY(%s) ORDER BY attempts",
                [[second_last, last]],
            ).fetchall()
        assert found == [
            ("running", MAX_ATTEMPTS - 1, None),
            ("failed", MAX_ATTEMPTS, "Its worker failed repeatedly."),
        ]
        assert _failed(admin_url, collection_id) == before + 1


class TestNextBot:
    """A runner adds turns without writing who speaks next; the release of its conversations writes it."""

    @pytest.mark.parametrize("by", ["the runner", "maintenance"])
    async def test_a_released_conversation_waits_for_the_bot_that_speaks_next(
        self, admin_url: str, database: Database, by: str
    ):
        grow(admin_url, TURNS)
        with psycopg.connect(admin_url) as connection:
            said = connection.execute(
                "UPDATE conversations.conversations SET turns_said = turns_said + 1 WHERE runner_job_id = %s"
                " RETURNING id, pair, turns_said, next_bot",
                [RUNNER_JOB_ID],
            ).fetchall()
        async with database.write() as session:
            if by == "the runner":
                await claims_store.release(session, RUNNER_JOB_ID)
            else:
                await claims_store.release_orphans(session, max_attempts=MAX_ATTEMPTS)
        assert said
        with psycopg.connect(admin_url) as connection:
            for conversation_id, pair, turns, spoke in said:
                (participants,) = _one(
                    connection, "SELECT participants FROM conversations.pairs WHERE number = %s", pair
                )
                (next_bot,) = _one(
                    connection, "SELECT next_bot FROM conversations.conversations WHERE id = %s", conversation_id
                )
                assert str(next_bot) == participants[turns % 2]["bot_id"] != str(spoke)
