"""The turn loop of one job: claim conversations, request their next turns from bots, commit the replies, claim more.

Every turn is committed before the next turn is requested. The runner holds copies of conversations; the database
decides who may add a turn. So a runner may die at any moment, or continue after another process took it for dead: each
turn is stored once.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.clients import PEER_TROUBLE
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections.domain import REQUESTS_TURNS, OpenCollection
from spotthebot.conversations.conversations.domain import PEER_BACKOFF, Conversation, Step
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.conversations.store.turns import CommittedSteps
from spotthebot.conversations.conversations.use_cases import record_requests
from spotthebot.conversations.turn_loop.domain import AcquiredSlots, SlotRequest, in_turn
from spotthebot.conversations.turn_loop.store import claims as claims_store
from spotthebot.conversations.turn_loop.store import concurrency_slots as concurrency_slots_store
from spotthebot.conversations.turn_loop.use_cases.bot_backoffs import BotBackoffs
from spotthebot.conversations.turn_loop.use_cases.bot_requests import (
    BotAnswer,
    request_turns,
    slots_needed,
    split_into_requests,
)
from spotthebot.conversations.turn_loop.use_cases.request_batching import RequestBatcher
from spotthebot.conversations.turn_loop.use_cases.turn_commits import CollectionTraces, PendingCommit, TurnCommits
from spotthebot.kit.database.sessions import DATABASE_TROUBLE, Database
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.telemetry.logs import get_logger

_POLL_SECONDS = 0.1
"""The time between two checks for free slots or for conversations that other runners have released."""
_CHECK_COLLECTIONS_SECONDS = 1.0
"""A pause or a new priority takes effect after this long, even if no turn is committed meanwhile."""
_DRAIN_SECONDS = 5.0

_log = get_logger(__name__)


@dataclass(frozen=True)
class RunnerLimits:
    """The limits of a runner's simultaneous work."""

    conversations: int
    """The number of conversations that it runs at the same time."""
    contexts: int
    """The number of contexts in a request to `bots`: the slowest reply of a request delays the others."""


@dataclass(frozen=True)
class _PendingRequest:
    """A request sent to `bots`, and the concurrency slots that it occupies."""

    conversations: Sequence[Conversation]
    slots: AcquiredSlots


class ConversationRunner:
    """Runs conversations for one job, until no conversation is left to run or `stopping` returns true."""

    def __init__(
        self,
        database: Database,
        jobs: Jobs,
        bots: Bots,
        job_id: int,
        limits: RunnerLimits,
        stopping: Callable[[], bool],
    ) -> None:
        self._database, self._bots = database, bots
        self._job_id, self._limits, self._stopping = job_id, limits, stopping
        self._conversations: dict[UUID, Conversation] = {}
        self._pending: dict[asyncio.Task[BotAnswer], _PendingRequest] = {}
        self._commit: PendingCommit | None = None
        self._full_bots: dict[UUID, float] = {}
        """Bots without a free slot at the last check, and the time of the next check."""
        self._batcher = RequestBatcher(limits.conversations, limits.contexts)
        self._priorities: dict[UUID, int] = {}
        self._traces = CollectionTraces(job_id)
        self._commits = TurnCommits(database, jobs, self._traces)
        self._checked_at = float("-inf")
        self._backoffs = 0
        self._bot_backoffs = BotBackoffs()

    async def run(self) -> None:
        """Run conversations until none is left or the runner stops, and then release the runner's conversations."""
        try:
            await self._reload(restarted=True)
            while not self._stopping():
                try:
                    await self._claim_more()
                    if not self._conversations:
                        return
                    await self._send_requests()
                    await self._make_progress(self._wait_seconds())
                except DATABASE_TROUBLE as error:
                    await self._end_commit()
                    await self._back_off(error)
                    await self._reload()
            await self._drain()
        finally:
            for task in self._pending:
                task.cancel()
            await asyncio.gather(*self._pending, return_exceptions=True)
            await asyncio.shield(self._end())

    async def _reload(self, *, restarted: bool = False) -> None:
        """Read the job's conversations from the database, where an earlier attempt may have left conversations."""
        while True:
            try:
                if restarted:  # nobody waits for the requests of an earlier attempt
                    async with self._database.write() as session:
                        await concurrency_slots_store.release_job(session, self._job_id)
                async with self._database.read() as session:
                    claimed = await conversations_store.list_claimed(session, self._job_id)
                self._conversations = {each.id: each for each in claimed}
            except DATABASE_TROUBLE as error:
                await self._back_off(error)
            else:
                return

    def _ready(self) -> list[Conversation]:
        """Return the conversations to request turns for, by priority; collections of one priority take turns."""
        busy = {each.id for request in self._pending.values() for each in request.conversations}
        busy |= {each.after.id for each in (self._commit.steps if self._commit else ())}
        return in_turn([each for each in self._conversations.values() if each.id not in busy], self._priorities)

    async def _claim_more(self) -> None:
        """Fill the batch with newly claimed conversations.

        Those that wait for a bot without free slots do not count.
        """
        now = time.monotonic()
        blocked = [
            each
            for each in self._ready()
            if each.next_bot in self._full_bots or self._bot_backoffs.holds(each.next_bot, now)
        ]
        bots = {each.next_bot for each in blocked}
        self._full_bots = {bot: until for bot, until in self._full_bots.items() if bot in bots}
        room = self._limits.conversations - (len(self._conversations) - len(blocked))
        is_hungry = room > self._limits.conversations // 4 and now - self._checked_at > _POLL_SECONDS
        if self._conversations and not is_hungry and now - self._checked_at < _CHECK_COLLECTIONS_SECONDS:
            return
        self._checked_at = now
        async with self._database.read() as session:
            collections = await claims_store.list_open(session)
        self._priorities = {each.id: each.priority for each in collections}
        running = {each.collection_id for each in self._conversations.values()}
        self._traces.keep(running, collections)
        excess = [each.id for each in self._ready() if each.collection_id not in self._priorities]
        excess += [each.id for each in blocked if each.collection_id in self._priorities][self._limits.conversations :]
        if excess:
            await self._release(excess)
        for collection in collections:
            limit = max(room, self._room_by_priority(collection))
            if limit > 0:
                full = {each.next_bot for each in blocked if each.collection_id == collection.id}
                room -= await self._claim(collection.id, limit, [bot for bot in full if bot is not None])

    def _room_by_priority(self, collection: OpenCollection) -> int:
        """Return how many more conversations a full batch may take: up to half of it, if lower priorities fill it."""
        running: Counter[UUID] = Counter(each.collection_id for each in self._conversations.values())
        if all(self._priorities.get(each, 0) >= collection.priority for each in running):
            return 0
        return self._limits.conversations // 2 - running[collection.id]

    async def _claim(self, collection_id: UUID, limit: int, full: Sequence[UUID]) -> int:
        async with self._database.write() as session:
            ids = await claims_store.claim(session, self._job_id, collection_id, limit=limit, full=full)
            claimed = await conversations_store.list_by_ids(session, ids) if ids else []
        self._conversations |= {each.id: each for each in claimed}
        if claimed:
            self._checked_at = float("-inf")  # more work may follow
        return len(claimed)

    async def _send_requests(self) -> None:
        """Request turns from the bots that speak next, as far as the bots have free concurrency slots."""
        waiting: dict[UUID, list[Conversation]] = defaultdict(list)
        now = time.monotonic()
        for each in self._ready():
            if each.next_bot is None or self._bot_backoffs.holds(each.next_bot, now):
                continue
            if self._full_bots.get(each.next_bot, 0.0) <= now:
                waiting[each.next_bot].append(each)
        chosen = self._batcher.choose(waiting, pending=len(self._pending), now=now)
        if not chosen:
            return
        needed: dict[UUID, SlotRequest] = {}
        for bot, conversations in chosen.items():
            try:
                needed[bot] = await slots_needed(self._bots, bot, len(conversations))
            except PEER_TROUBLE as trouble:
                self._bot_backoffs.failed(bot, trouble, time.monotonic())
        async with self._database.write() as session:
            acquired = await concurrency_slots_store.acquire(session, self._job_id, needed)
        until = time.monotonic() + _POLL_SECONDS
        for bot in needed:
            conversations = chosen[bot]
            slots = acquired[bot].slots if bot in acquired else 0
            self._full_bots.pop(bot, None)
            if slots < len(conversations):
                self._full_bots[bot] = until
            for request in split_into_requests(conversations[:slots], self._limits.contexts):
                task = asyncio.create_task(self._request_turns(request))
                self._pending[task] = _PendingRequest(request, acquired[bot])

    async def _request_turns(self, conversations: Sequence[Conversation]) -> BotAnswer:
        since = time.time_ns()
        with self._traces.linked("request turns", conversations[0].collection_id):
            answer = await request_turns(self._bots, conversations)
            record_requests(answer.steps, since)
            return answer

    def _wait_seconds(self) -> float:
        """Return how long to wait for replies before other work is due."""
        longest = _POLL_SECONDS if self._ready() else _CHECK_COLLECTIONS_SECONDS
        return min(longest, self._batcher.seconds_left(time.monotonic()))

    async def _make_progress(self, seconds: float) -> None:
        """Wait for replies or for the running commit; then commit replies that arrived, and apply committed steps."""
        if self._commit is not None:
            commit = self._commit
            await asyncio.wait([commit.task], timeout=seconds)
            if commit.task.done():
                self._commit = None
                self._apply(commit.steps, commit.task.result())
        elif self._pending:
            done, _ = await asyncio.wait(self._pending, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if done:
                await self._receive(list(done))
        else:
            await asyncio.sleep(_POLL_SECONDS)

    async def _receive(self, replies: Sequence[asyncio.Task[BotAnswer]]) -> None:
        """Receive replies, and begin to commit them as one batch of turns."""
        slots: Counter[UUID] = Counter()
        steps: list[Step] = []
        for task in replies:
            request, answer = self._pending.pop(task), task.result()
            slots[request.slots.id] += len(request.conversations)
            steps += answer.steps
            bot = request.conversations[0].next_bot
            if bot is not None and answer.trouble is not None:
                self._bot_backoffs.failed(bot, answer.trouble, time.monotonic())
            elif bot is not None:
                self._bot_backoffs.succeeded(bot)
        self._batcher.learn(steps)
        self._commit = PendingCommit(asyncio.create_task(self._commits.commit(steps, slots)), steps)

    def _apply(self, steps: Sequence[Step], committed: CommittedSteps) -> None:
        """Keep conversations with a committed step; drop conversations that ended, wait or belong to another runner."""
        for each in steps:
            self._conversations.pop(each.after.id, None)
            if each.after.id in committed.conversations and not each.is_released:
                self._conversations[each.after.id] = each.after  # moved to the end, so that the other bots come first
            if committed.collections.get(each.after.collection_id) not in REQUESTS_TURNS:
                self._checked_at = float("-inf")
        self._full_bots = dict.fromkeys(self._full_bots, 0.0)  # slots were released: check at once
        self._backoffs = 0

    async def _back_off(self, error: Exception) -> None:
        """Wait because the database does not answer. This counts as an attempt for no conversation."""
        self._backoffs += 1
        wait = PEER_BACKOFF.seconds(self._backoffs)
        _log.warning("runner.backs_off", peer="database", seconds=wait, reason=str(error)[:200])
        await asyncio.sleep(wait)

    async def _drain(self) -> None:
        """Receive and commit replies to pending requests while time is left."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        while (self._pending or self._commit) and time.monotonic() < deadline:
            await self._make_progress(deadline - time.monotonic())

    async def _end_commit(self) -> None:
        """Wait for the running commit. Ignore its outcome, because the state is read from the database again."""
        if self._commit is not None:
            await asyncio.gather(self._commit.task, return_exceptions=True)
            self._commit = None

    async def _end(self) -> None:
        await self._end_commit()
        await self._release()

    async def _release(self, ids: Sequence[UUID] | None = None) -> None:
        """Release conversations (None: all) to other runners; if that fails, maintenance releases them later."""
        try:
            async with self._database.write() as session:
                await claims_store.release(session, self._job_id, ids)
        except DATABASE_TROUBLE as error:
            _log.warning("runner.release_failed", reason=str(error)[:200])
        for each in list(self._conversations) if ids is None else ids:
            self._conversations.pop(each, None)
