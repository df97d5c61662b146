"""Trouble with one bot's requests is that bot's: the runner goes on with all others, and nothing waits for ever."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from spotthebot.clients import PeerUnavailable, UnexpectedAnswer
from spotthebot.clients.errors import PeerFailed, PeerRefused, Problem
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.contracts.conversations.collections import AllPlayAllIn
from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.conversations.conversations.domain import MAX_ATTEMPTS, Conversation, step
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.participants.use_cases import find_participants
from spotthebot.conversations.plans.use_cases import start_collection
from spotthebot.conversations.turn_loop.use_cases import bot_backoffs as bot_backoffs_use_cases
from spotthebot.conversations.turn_loop.use_cases.bot_requests import request_turns
from spotthebot.conversations.turn_loop.use_cases.runner import ConversationRunner, RunnerLimits
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.waits.backoff import Backoff
from tests.conversations.turn_loop.test_turn_loop import FlakyBots
from tests.factories.databases import DatabaseUrls
from tests.factories.studies import plan

GOOD, BAD = (UUID(int=1), UUID(int=2)), (UUID(int=3), UUID(int=4))
PROBLEM = Problem("urn:spotthebot:problem:internal-error", "Internal error", 500, "Oh.", "/v1/bots", ())
BROKEN = PeerFailed(peer="bots", method="POST", path="/v1/bots/3/replies", problem=PROBLEM)


class _BadForSome(FlakyBots):
    """Fails at every request for some bots, and at those in which one conversation is."""

    def __init__(self, error: Exception, bots: Sequence[UUID] = (), poison: UUID | None = None) -> None:
        super().__init__()
        self.requests: Counter[UUID] = Counter()
        self._raised, self._bad, self._poison = error, bots, poison

    async def reply(self, bot_id: UUID, conversations: Sequence[Conversation]) -> tuple[ReplyOut, ...]:
        self.requests[bot_id] += 1
        if bot_id in self._bad or any(each.id == self._poison for each in conversations):
            raise self._raised
        return await super().reply(bot_id, conversations)


@pytest.fixture
async def database(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    opened = Database(database_urls.app["conversations"], pool_size=4)
    yield opened
    await opened.close()


@pytest.fixture
def jobs(database_urls: DatabaseUrls) -> Jobs:
    return Jobs(database_urls.app["conversations"], "conversations")


async def _started(database: Database, jobs: Jobs, bots: Sequence[UUID], **more: Any) -> UUID:
    request = AllPlayAllIn.model_validate(plan([str(each) for each in bots], exchanges=3, **more))
    participants = await find_participants(database, FlakyBots(), request)
    async with database.write() as session:
        return (await start_collection(session, jobs, request, participants, batch=64)).id


async def _held(database: Database, collection_id: UUID) -> list[Conversation]:
    async with database.read() as session:
        return await conversations_store.list_conversations(session, collection_id, after=None, limit=1000)


def _runner(database: Database, jobs: Jobs, bots: FlakyBots) -> ConversationRunner:
    return ConversationRunner(database, jobs, bots, 1, RunnerLimits(64, 32), lambda: False)


class TestRunner:
    @pytest.mark.parametrize(
        "trouble",
        [
            PeerUnavailable(peer="bots", reason="the time is up"),
            UnexpectedAnswer(peer="bots", method="POST", path="/", reason="not JSON"),
            PeerRefused(peer="bots", method="POST", path="/", problem=PROBLEM),
        ],
        ids=lambda trouble: type(trouble).__name__,
    )
    async def test_backs_off_the_bot_in_trouble_and_finishes_all_others(
        self, database: Database, jobs: Jobs, trouble: Exception
    ):
        bad = await _started(database, jobs, BAD, conversations_per_pair=4, name="bad")
        good = await _started(database, jobs, GOOD, conversations_per_pair=20, name="good")
        bots = _BadForSome(trouble, BAD)
        running = asyncio.create_task(_runner(database, jobs, bots).run())
        started = time.monotonic()
        async with asyncio.timeout(60):
            while {each.state for each in await _held(database, good)} != {ConversationState.COMPLETE}:
                await asyncio.sleep(0.05)
        seconds = time.monotonic() - started
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert {each.state for each in await _held(database, bad)} == {ConversationState.RUNNING}
        assert bots.requests[BAD[0]] <= 16 * (3 + seconds)  # with four conversations at most seven requests a try
        assert sum(bots.requests[each] for each in GOOD) >= 6

    async def test_fails_the_one_conversation_at_which_bots_fails_with_the_reason(
        self, database: Database, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
    ):
        quick = Backoff(first_seconds=0.01, max_seconds=0.02)
        monkeypatch.setattr(bot_backoffs_use_cases, "TURN_BACKOFF", quick)
        collection = await _started(database, jobs, GOOD, conversations_per_pair=8)
        poison = (await _held(database, collection))[3].id
        async with asyncio.timeout(60):
            await _runner(database, jobs, _BadForSome(BROKEN, poison=poison)).run()
        held = {each.id: each for each in await _held(database, collection)}
        failed = held.pop(poison)
        assert {each.state for each in held.values()} == {ConversationState.COMPLETE}
        assert (failed.state, len(failed.turns)) == (ConversationState.FAILED, 0)
        assert "The service bots failed" in (failed.failure or "")


class TestRequests:
    async def test_a_request_at_which_bots_fails_is_cut_until_the_conversation_is_found(
        self, database: Database, jobs: Jobs
    ):
        held = await _held(database, await _started(database, jobs, GOOD, conversations_per_pair=8))
        same = [each for each in held if each.next_bot == held[0].next_bot]
        answer = await request_turns(_BadForSome(BROKEN, poison=same[1].id), same)
        said = {each.after.id: each for each in answer.steps}
        assert answer.trouble is BROKEN
        assert said[same[1].id].after.attempts == 1
        assert all(each.text for conversation, each in said.items() if conversation != same[1].id)
        last = replace(same[1], attempts=MAX_ATTEMPTS - 1)
        answer = await request_turns(_BadForSome(BROKEN, GOOD), [last])
        assert answer.steps[0].after.state is ConversationState.FAILED


class TestRateLimits:
    async def test_are_waited_for_as_long_as_the_bots_server_says(self, database: Database, jobs: Jobs):
        (conversation, *_) = await _held(database, await _started(database, jobs, GOOD))
        limited = ReplyOut.failed(ReplyFailure.RATE_LIMITED, "Slow.", retry_after_seconds=118.5)
        found = step(conversation, limited)
        assert (found.wait_seconds, found.after) == (118.5, conversation)
        later = step(conversation, ReplyOut.failed(ReplyFailure.HTTP_ERROR, "503", retry_after_seconds=60.0))
        assert (later.wait_seconds, later.after.attempts) == (60.0, 1)
