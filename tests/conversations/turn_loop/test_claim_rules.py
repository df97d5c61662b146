"""What runners claim, release and wait for: rows on both sides of each condition of the statements."""

from datetime import timedelta

import pytest
from sqlalchemy import func, insert, select, text, update

from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.conversations.tables import ConversationRow
from spotthebot.conversations.progress import store as progress_store
from spotthebot.conversations.turn_loop.domain import SlotRequest
from spotthebot.conversations.turn_loop.store import claims as claims_store
from spotthebot.conversations.turn_loop.store import concurrency_slots as concurrency_slots_store
from spotthebot.conversations.turn_loop.store import unavailable_bots as unavailable_bots_store
from spotthebot.conversations.turn_loop.tables import ConcurrencySlotRow, UnavailableBotRow
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.ids import new_id, new_ids
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_collections import bot, store_collection, store_conversations, value_of

ONE, TWO, THREE = new_ids(3)
SIDES = bot(ONE, "one"), bot(TWO, "two")
JOB, OTHER_JOB = 7, 8


class TestClaim:
    async def test_takes_the_lowest_rounds_of_those_that_wait_up_to_the_limit(self, stored: SavepointDatabase):
        async with stored.write() as session:
            others = await store_collection(session, SIDES)
            await store_conversations(session, others, 1, next_bot=ONE)
            mine = await store_collection(session, SIDES)
            (second,) = await store_conversations(session, mine, 1, next_bot=ONE, round=1)
            (first,) = await store_conversations(session, mine, 1, next_bot=TWO, round=0)
            last = await store_conversations(session, mine, 2, next_bot=ONE, round=2)
            assert await claims_store.claim(session, JOB, mine, limit=1, full=[]) == [first]
            assert set(await claims_store.claim(session, JOB, mine, limit=2, full=[])) == {second, last[0]}
            assert await claims_store.claim(session, JOB, mine, limit=9, full=[]) == [last[1]]
            assert await claims_store.claim(session, JOB, mine, limit=9, full=[]) == []

    async def test_passes_over_who_can_or_may_not_be_asked(self, stored: SavepointDatabase):
        soon, long_ago = func.now() + timedelta(hours=1), func.now() - timedelta(hours=1)
        async with stored.write() as session:
            mine = await store_collection(session, SIDES, bots=[ONE, TWO, THREE])
            await store_conversations(session, mine, 1, next_bot=ONE, state="failed")
            await store_conversations(session, mine, 1, next_bot=ONE, runner_job_id=OTHER_JOB)
            (pausing,) = await store_conversations(session, mine, 1, next_bot=ONE)
            (rested,) = await store_conversations(session, mine, 1, next_bot=ONE)
            for each, at in ((pausing, soon), (rested, long_ago)):
                await session.execute(update(ConversationRow).where(ConversationRow.id == each).values(not_before=at))
            await store_conversations(session, mine, 1, next_bot=TWO)
            await store_conversations(session, mine, 1, next_bot=THREE)
            await session.execute(insert(UnavailableBotRow).values(bot_id=THREE, name="three", reason="down"))
            assert await claims_store.count_waiting(session, limit=9) == 2
            assert await claims_store.count_waiting(session, limit=1) == 1
            assert await claims_store.claim(session, JOB, mine, limit=9, full=[TWO]) == [rested]
            assert await value_of(session, ConversationRow.not_before, rested) is None
            assert await value_of(session, ConversationRow.runner_job_id, rested) == JOB

    @pytest.mark.parametrize("state", ["paused", "cancelled", "complete"])
    async def test_takes_nothing_of_a_collection_that_does_not_collect(self, stored: SavepointDatabase, state: str):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES, state=state)
            await store_conversations(session, mine, 1, next_bot=ONE)
            assert await claims_store.claim(session, JOB, mine, limit=9, full=[]) == []
            assert await claims_store.count_waiting(session, limit=9) == 0
            assert await claims_store.list_open(session) == []
            assert await claims_store.fail_waiting(session, ONE, "gone") == 0

    async def test_goes_through_collections_by_priority_then_by_what_is_claimed_of_them(
        self, stored: SavepointDatabase
    ):
        async with stored.write() as session:
            busy, idle, idle_too, urgent = [
                await store_collection(session, SIDES, priority=priority) for priority in (0, 0, 0, 1)
            ]
            await store_conversations(session, busy, 2, runner_job_id=JOB)
            await store_conversations(session, busy, 3)
            await store_conversations(session, urgent, 1, runner_job_id=JOB)
            found = await claims_store.list_open(session)
        assert [(each.id, each.priority, each.claimed) for each in found] == [
            (urgent, 1, 1),
            *((each, 0, 0) for each in sorted([idle, idle_too])),
            (busy, 0, 2),
        ]


class TestRelease:
    async def test_releases_a_runners_conversations_or_some_of_them_to_the_bot_whose_turn_it_is(
        self, stored: SavepointDatabase
    ):
        async with stored.write() as session:
            mine = await store_collection(session, SIDES)
            (even,) = await store_conversations(session, mine, 1, turns=("a", "b"), runner_job_id=JOB)
            (odd,) = await store_conversations(session, mine, 1, turns=("a",), runner_job_id=JOB)
            (others,) = await store_conversations(session, mine, 1, runner_job_id=OTHER_JOB)
            await claims_store.release(session, JOB, [odd, others])
            assert [await value_of(session, ConversationRow.runner_job_id, each) for each in (even, odd, others)] == [
                JOB,
                None,
                OTHER_JOB,
            ]
            await claims_store.release(session, JOB)
            assert [await value_of(session, ConversationRow.next_bot, each) for each in (even, odd, others)] == [
                ONE,
                TWO,
                None,
            ]


class TestUnavailableBots:
    async def test_what_waits_for_one_is_counted_and_can_be_failed(self, stored: SavepointDatabase):
        async with stored.write() as session:
            mine, others = [await store_collection(session, SIDES) for _ in range(2)]
            waiting = await store_conversations(session, mine, 2, next_bot=ONE)
            await store_conversations(session, mine, 1, next_bot=TWO)
            await store_conversations(session, mine, 1, next_bot=ONE, runner_job_id=JOB)
            await store_conversations(session, mine, 1, next_bot=ONE, state="cancelled")
            await store_conversations(session, others, 1, next_bot=TWO)
            paused, ended = [await store_collection(session, SIDES, state=state) for state in ("paused", "cancelled")]
            for each in (paused, ended):
                await store_conversations(session, each, 1, next_bot=ONE)
            assert await unavailable_bots_store.mark_unavailable(session, ONE, name="one", reason="down")
            assert not await unavailable_bots_store.mark_unavailable(session, ONE, name="one", reason="again")
            found = [await collections_store.get_collection(session, each) for each in (mine, others, paused, ended)]
            assert [each.waiting for each in found] == [2, 0, 1, 0]
            (reason,) = await progress_store.list_failures(session, mine, offset=0, limit=9)
            assert (reason.state, reason.reason, reason.bot, reason.conversations) == ("waiting", "down", "one", 2)
            assert await progress_store.list_failures(session, others, offset=0, limit=9) == []
            assert await claims_store.fail_waiting(session, ONE, "gone") == 2
            assert [await value_of(session, ConversationRow.failure, each) for each in waiting] == ["gone", "gone"]
            failed = [(await collections_store.get_collection(session, each)).failed for each in (mine, others)]
            assert failed == [2, 0]
            assert await unavailable_bots_store.mark_available(session, ONE)
            assert not await unavailable_bots_store.mark_available(session, ONE)

    async def test_are_listed_in_the_order_in_which_they_became_so(self, stored: SavepointDatabase):
        async with stored.write() as session:
            for each, minutes in ((ONE, 1), (TWO, 3), (THREE, 2)):
                since = func.now() - timedelta(minutes=minutes)
                row = {"bot_id": each, "name": "bot", "reason": "down", "since": since}
                await session.execute(insert(UnavailableBotRow).values(row))
            found = await unavailable_bots_store.list_unavailable(session)
        assert [each.bot_id for each in found] == [TWO, THREE, ONE]


class TestSlots:
    async def test_are_free_again_once_they_expired_and_no_other(self, stored: SavepointDatabase):
        request = {ONE: SlotRequest(2, limit=3, seconds=60)}
        async with stored.write() as session:
            first = (await concurrency_slots_store.acquire(session, JOB, request))[ONE]
            assert first.slots == 2
            second = (await concurrency_slots_store.acquire(session, JOB, request))[ONE]
            assert second.slots == 1
            past = func.clock_timestamp() - timedelta(seconds=1)
            expire = update(ConcurrencySlotRow).where(ConcurrencySlotRow.id == first.id).values(expires_at=past)
            await session.execute(expire)
            assert (await concurrency_slots_store.acquire(session, JOB, request))[ONE].slots == 2
            left = set(await session.scalars(select(ConcurrencySlotRow.slots)))
            assert await concurrency_slots_store.acquire(session, JOB, {TWO: SlotRequest(1, limit=0, seconds=60)}) == {}
        assert left == {1, 2}

    async def test_are_queued_for_ahead_of_the_runners(self, stored: SavepointDatabase):
        chat, late = new_ids(2)
        request = SlotRequest(1, limit=1, seconds=60)
        async with stored.write() as session:
            held = (await concurrency_slots_store.acquire(session, JOB, {ONE: request}))[ONE]
            assert not await concurrency_slots_store.acquire_next(session, chat, ONE, request, job_id=OTHER_JOB)
            await concurrency_slots_store.release(session, {held.id: 1})
            assert await concurrency_slots_store.acquire(session, JOB, {ONE: request}) == {}
            assert await concurrency_slots_store.acquire_next(session, chat, ONE, request, job_id=OTHER_JOB)
            assert not await concurrency_slots_store.acquire_next(session, late, ONE, request, job_id=OTHER_JOB)
            await concurrency_slots_store.release_job(session, JOB)
            assert await session.scalar(select(func.count()).select_from(ConcurrencySlotRow)) == 2
            await concurrency_slots_store.release_job(session, OTHER_JOB)
            assert await session.scalar(select(func.count()).select_from(ConcurrencySlotRow)) == 0


async def _jobs(session: WriteSession, *jobs: tuple[str, str]) -> list[int]:
    """Store jobs, each given with its task and status; returns their ids."""
    await session.execute(text("SET LOCAL search_path TO conversations"))  # for the triggers of the queue
    statement = text("""
        INSERT INTO conversations.procrastinate_jobs (queue_name, task_name, status)
        VALUES ('default', :task, CAST(:status AS conversations.procrastinate_job_status)) RETURNING id
    """)
    return [(await session.execute(statement, {"task": task, "status": status})).scalar_one() for task, status in jobs]


class TestJobs:
    async def test_those_that_wait_or_run_are_counted_by_task(self, stored: SavepointDatabase):
        async with stored.write() as session:
            await _jobs(session, ("mine", "todo"), ("mine", "doing"), ("mine", "failed"), ("other", "todo"))
            assert await claims_store.count_jobs(session, "mine") == 2

    async def test_those_at_work_keep_their_slots_and_those_that_wait_unless_they_are_runners(
        self, stored: SavepointDatabase
    ):
        async with stored.write() as session:
            jobs = await _jobs(
                session, ("run", "doing"), ("run", "todo"), ("chat", "doing"), ("chat", "todo"), ("chat", "failed")
            )
            for job in (*jobs, max(jobs) + 1):
                await concurrency_slots_store.acquire(session, job, {new_id(): SlotRequest(1, limit=1, seconds=60)})
            await concurrency_slots_store.release_orphans(session, runners="run")
            left = set(await session.scalars(select(ConcurrencySlotRow.job_id)))
        assert left == {jobs[0], jobs[2], jobs[3]}

    async def test_those_not_at_work_lose_their_conversations_and_those_that_failed_count(
        self, stored: SavepointDatabase
    ):
        async with stored.write() as session:
            doing, todo, failed = await _jobs(session, ("run", "doing"), ("run", "todo"), ("run", "failed"))
            mine, others = [await store_collection(session, SIDES, failed=5) for _ in range(2)]
            states = [
                (doing, 4, "running", 4, doing),
                (todo, 2, "running", 2, None),
                (failed, 1, "running", 2, None),
                (failed, 2, "failed", 3, None),
                (failed + 1, 2, "running", 2, None),
                (None, 2, "running", 2, None),
            ]
            ids = [
                (await store_conversations(session, mine, 1, runner_job_id=job, attempts=before))[0]
                for job, before, *_ in states
            ]
            await store_conversations(session, others, 1, turns=("a",), runner_job_id=todo)
            assert await claims_store.release_orphans(session, max_attempts=3) == 5
            columns = ConversationRow.state, ConversationRow.attempts, ConversationRow.runner_job_id
            found = [tuple([await value_of(session, column, each) for column in columns]) for each in ids]
            failures = [await value_of(session, ConversationRow.failure, each) for each in ids]
            counts = [(await collections_store.get_collection(session, each)).failed for each in (mine, others)]
        assert found == [tuple(after) for _, _, *after in states]
        assert failures == [None, None, None, "Its worker failed repeatedly.", None, None]
        assert counts == [6, 5]
