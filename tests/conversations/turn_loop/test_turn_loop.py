"""Conversations come to their end, whatever becomes of the service that speaks for the bots meanwhile."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest
import respx

from spotthebot.bots.app import SERVICE as BOTS
from spotthebot.clients import AsyncBots, PeerUnavailable, UnexpectedAnswer
from spotthebot.contracts.bots.registry import BotOut, BotStatus, Limits
from spotthebot.contracts.bots.replies import RepliesOut, ReplyOut
from spotthebot.contracts.conversations.collections import AllPlayAllIn, CollectionState
from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.conversations.app import SERVICE as CONVERSATIONS
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.conversations.domain import Conversation, step
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.conversations.store import turns as turns_store
from spotthebot.conversations.participants.use_cases import find_participants
from spotthebot.conversations.plans.use_cases import start_collection
from spotthebot.conversations.turn_loop.store import claims as claims_store
from spotthebot.conversations.turn_loop.use_cases.bot_requests import request_turns
from spotthebot.conversations.turn_loop.use_cases.runner import ConversationRunner, RunnerLimits
from spotthebot.conversations.worker import work
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.processes.sockets import bind
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import Keys, RunningSuite, bots_settings, conversations_settings, run_suite, served
from tests.factories.studies import (
    add_bot,
    add_corpus,
    created,
    plan,
    until,
)
from tests.factories.wire import BASE


class FlakyBots(Bots):
    """Stands in for a peer that fails in the middle: which no real one does on demand."""

    def __init__(self, fail_at: int = 0, error: Exception | None = None) -> None:
        self.calls = 0
        self.asked: list[tuple[UUID, int]] = []
        self._fail_at, self._error = fail_at, error

    async def recall(self, bot_id: UUID) -> BotOut:
        return _bot(bot_id, BotStatus.ACTIVE)

    get = recall

    async def get_all(self, ids: Sequence[UUID]) -> tuple[BotOut, ...]:
        return tuple([await self.get(each) for each in ids])

    async def reply(self, bot_id: UUID, conversations: Sequence[Conversation]) -> tuple[ReplyOut, ...]:  # noqa: ARG002 - as of every bot
        self.calls += 1
        if self.calls == self._fail_at and self._error:
            raise self._error
        self.asked += [(each.id, len(each.turns)) for each in conversations]
        return tuple(ReplyOut.said(f"turn {len(each.turns)}", latency_ms=1.0) for each in conversations)


class ForgetfulBots(FlakyBots):
    """Answers the first look-up of a bot with something that is none."""

    look_ups = 0

    async def recall(self, bot_id: UUID) -> BotOut:
        self.look_ups += 1
        if self.look_ups == 1:
            raise UnexpectedAnswer(peer="bots", method="GET", path=f"/v1/bots/{bot_id}", reason="not JSON")
        return await super().recall(bot_id)


def _bot(bot_id: UUID, status: BotStatus) -> BotOut:
    return BotOut(
        id=bot_id,
        name=f"bot {bot_id.int}",
        team=None,
        description="",
        domains=("everyday",),
        limits=Limits(),
        public=False,
        status=status,
        status_reason=None,
        paused_until=None,
        version=1,
        protocol={"kind": "builtin", "model": "eliza"},
        has_secret=False,
        configuration_sha256="0" * 64,
        created_at=datetime.now(UTC),
        probe=None,
    )


BOTS_IN_PLAY = [UUID(int=1), UUID(int=2)]
NO_REPLIES = RepliesOut(bot_id=BOTS_IN_PLAY[0], version=1, configuration_sha256="0" * 64, replies=())


async def _started(database: Database, jobs: Jobs, **more: Any) -> UUID:
    """Start a collection that no worker works on."""
    request = AllPlayAllIn.model_validate(plan([str(each) for each in BOTS_IN_PLAY], exchanges=3, **more))
    participants = await find_participants(database, FlakyBots(), request)
    async with database.write() as session:
        collection = await start_collection(session, jobs, request, participants, batch=64)
    return collection.id


@pytest.fixture
async def database(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    opened = Database(database_urls.app["conversations"], pool_size=4)
    yield opened
    await opened.close()


@pytest.fixture
def jobs(database_urls: DatabaseUrls) -> Jobs:
    return Jobs(database_urls.app["conversations"], "conversations")


def _runner(database: Database, jobs: Jobs, bots: FlakyBots, job_id: int = 1, **more: Any) -> ConversationRunner:
    limits = RunnerLimits(**({"conversations": 64, "contexts": 32} | more))
    return ConversationRunner(database, jobs, bots, job_id, limits, lambda: False)


async def _held(database: Database, collection_id: UUID) -> list[Conversation]:
    async with database.read() as session:
        return await conversations_store.list_conversations(session, collection_id, after=None, limit=1000)


class TestRunner:
    async def test_commits_every_turn_once_and_in_order(self, database: Database, jobs: Jobs):
        collection = await _started(database, jobs, conversations_per_pair=100)
        bots = FlakyBots()
        await asyncio.gather(*(_runner(database, jobs, bots, job, conversations=16).run() for job in range(1, 5)))
        held = await _held(database, collection)
        assert [each.turns for each in held] == [tuple(f"turn {number}" for number in range(6))] * 100
        assert {each.state for each in held} == {ConversationState.COMPLETE}
        assert len(bots.asked) == len(set(bots.asked)) == 100 * 6

    @pytest.mark.parametrize(
        "trouble",
        [
            PeerUnavailable(peer="bots", reason="gone"),
            UnexpectedAnswer(peer="bots", method="POST", path="/v1/bots/1/replies", reason="not JSON"),
        ],
        ids=lambda trouble: type(trouble).__name__,
    )
    async def test_waits_for_a_peer_in_trouble_and_continues_at_the_last_turn(
        self, database: Database, jobs: Jobs, trouble: Exception
    ):
        collection = await _started(database, jobs, conversations_per_pair=1)
        bots = FlakyBots(4, trouble)
        await _runner(database, jobs, bots).run()
        (held,) = await _held(database, collection)
        assert (held.state, len(held.turns), bots.calls) == (ConversationState.COMPLETE, 6, 7)

    async def test_a_runner_that_died_leaves_its_conversations_to_the_next_attempt_of_its_job(
        self, database: Database, jobs: Jobs
    ):
        collection = await _started(database, jobs, conversations_per_pair=2)
        async with database.write() as session:
            claimed = await claims_store.claim(session, 7, collection, limit=10, full=[])
        assert len(claimed) == 2
        idle = FlakyBots()
        await _runner(database, jobs, idle, 8).run()  # another one may not touch them
        assert idle.calls == 0
        await _runner(database, jobs, FlakyBots(), 7).run()
        assert {each.state for each in await _held(database, collection)} == {ConversationState.COMPLETE}

    async def test_a_runner_taken_for_dead_adds_no_turn(self, database: Database, jobs: Jobs):
        collection = await _started(database, jobs, conversations_per_pair=1)
        (before,) = await _held(database, collection)
        late = step(before, ReplyOut.said("too late", latency_ms=1.0))
        await _runner(database, jobs, FlakyBots()).run()
        async with database.write() as session:
            committed = await turns_store.commit_steps(session, [late])
        (held,) = await _held(database, collection)
        assert committed.conversations == frozenset()
        assert held.turns == tuple(f"turn {number}" for number in range(6))

    async def test_completes_a_collection_and_counts_its_turns(self, database: Database, jobs: Jobs):
        collection = await _started(database, jobs, conversations_per_pair=5)
        await _runner(database, jobs, FlakyBots()).run()
        async with database.read() as session:
            found = await collections_store.get_collection(session, collection)
        assert (found.state, found.complete, found.turns) == (CollectionState.COMPLETE, 5, 30)
        assert found.turns == found.turns_planned
        assert found.finished_at is not None


class TestRepliesOfTheWrongForm:
    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ("<h1>Oh</h1>", "must be JSON"),
            ("{}", "bot_id: is missing"),
            (NO_REPLIES.model_dump_json(), "0 replies to 1 contexts"),
        ],
    )
    async def test_are_trouble_of_the_peer_and_no_step_of_a_conversation(
        self, database: Database, jobs: Jobs, answer: str, reason: str
    ):
        (conversation,) = await _held(database, await _started(database, jobs, conversations_per_pair=1))
        with respx.mock(base_url=BASE) as wire:
            wire.post(f"/v1/bots/{conversation.next_bot}/replies").mock(return_value=httpx.Response(200, text=answer))
            async with AsyncBots(BASE, "key") as bots:
                result = await request_turns(Bots(bots), [conversation])
        assert result.steps == ()
        assert isinstance(result.trouble, UnexpectedAnswer)
        assert reason in str(result.trouble)

    async def test_do_not_end_a_runner_that_looks_up_the_limits_of_a_bot(self, database: Database, jobs: Jobs):
        collection = await _started(database, jobs, conversations_per_pair=1)
        bots = ForgetfulBots()
        await _runner(database, jobs, bots).run()
        (held,) = await _held(database, collection)
        assert (held.state, bots.look_ups > 1) == (ConversationState.COMPLETE, True)


class TestBots:
    async def test_a_rate_limited_bot_is_asked_again_after_the_wait_it_names(self, database_urls: DatabaseUrls):
        limits = {"service_rate_limit_requests_per_minute": 36}
        async with run_suite(database_urls, only=("bots", "conversations"), bots=limits) as suite:
            bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
            admin = await suite.client("conversations", "admin")
            request = plan(bots, conversations_per_pair=1, exchanges=21)  # 42 turns, one request each
            collection = await created(admin, "/v1/collections", request)
            done = await until(admin, f"/v1/collections/{collection['id']}", "complete")
            assert (done["complete"], done["failed"], done["turns"]) == (1, 0, 42)

    async def test_a_bot_that_refuses_ends_its_conversations_with_the_reason(self, suite: RunningSuite):
        corpus = await add_corpus(suite)
        bots = [await add_bot(suite, "retrieval", corpus_id=corpus), await add_bot(suite, "dull")]
        admin = await suite.client("conversations", "admin")
        late = {"dialogues": [{"key": "late", "split": "train", "turns": ["Hello.", "Too late."]}]}
        await created(admin, f"/v1/corpora/{corpus}/dialogues", late)  # so the bot is no longer what was registered
        collection = await created(admin, "/v1/collections", plan(bots))
        done = await until(admin, f"/v1/collections/{collection['id']}", "complete")
        assert (done["complete"], done["failed"]) == (0, 2)
        held = (await admin.get(f"/v1/collections/{collection['id']}/conversations")).json()["items"]
        assert all("have changed since its registration" in each["failure"] for each in held)

    async def test_conversations_wait_while_bots_is_unavailable(self, database_urls: DatabaseUrls, keys: Keys):
        service_key = await keys.make("service")
        header = {"Authorization": f"Bearer {await keys.make('admin')}"}
        port = _free_port()
        own: dict[str, Any] = {"service_key": service_key, "database_pool_size": 3}
        its_bots = BOTS.settings(database_url=database_urls.app["bots"], **bots_settings(), **own)
        at: dict[str, Any] = {
            "database_url": database_urls.app["conversations"],
            "bots_url": f"http://127.0.0.1:{port}",
        }
        settings = CONVERSATIONS.settings(**at, **own, **conversations_settings())
        async with (
            served(CONVERSATIONS.create_app(settings), bind("127.0.0.1", 0)) as url,
            httpx.AsyncClient(base_url=url, headers=header) as admin,
            _at_work(settings),
        ):
            async with served(BOTS.create_app(its_bots), bind("127.0.0.1", port)) as bots_url:
                bots = await _register(bots_url, header)
                request = plan(bots, conversations_per_pair=1, exchanges=30)
                first = await created(admin, "/v1/collections", request)
                path = f"/v1/collections/{first['id']}"
                async with asyncio.timeout(30):
                    while not (await admin.get(path)).json()["turns"]:
                        await asyncio.sleep(0.005)
            await asyncio.sleep(0.5)  # long enough to be noticed
            cut_off = (await admin.get(path)).json()
            assert cut_off["state"] == "collecting"
            assert 0 < cut_off["turns"] < 60
            async with served(BOTS.create_app(its_bots), bind("127.0.0.1", port)):
                done = await until(admin, path, "complete")
                assert (done["complete"], done["failed"], done["turns"]) == (1, 0, 60)
                undisturbed = await created(admin, "/v1/collections", request)
                await until(admin, f"/v1/collections/{undisturbed['id']}", "complete")
            texts = [await _texts(admin, collection["id"]) for collection in (first, undisturbed)]
        assert texts[0] == texts[1]  # word for word what would have been said


def _free_port() -> int:
    with contextlib.closing(bind("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])


@asynccontextmanager
async def _at_work(settings: Any) -> AsyncIterator[None]:
    worker = asyncio.ensure_future(work(settings))
    try:
        yield
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)


async def _register(bots_url: str, header: dict[str, str]) -> list[str]:
    async with httpx.AsyncClient(base_url=bots_url, headers=header) as admin:
        bodies = [
            {"name": model, "domains": ["everyday"], "protocol": {"kind": "builtin", "model": model}}
            for model in ("eliza", "parrot")
        ]
        return [(await created(admin, "/v1/bots", body))["id"] for body in bodies]


async def _texts(admin: httpx.AsyncClient, collection: str) -> list[list[str]]:
    held = (await admin.get(f"/v1/collections/{collection}/conversations")).json()["items"]
    return [[turn["text"] for turn in each["turns"]] for each in held]
