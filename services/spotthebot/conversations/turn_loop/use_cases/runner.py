"""The turn loop of one job: claim conversations, request their next turns from bots, commit the replies, claim more.

Every turn is committed before the next one is requested. The runner's conversations are only copies: the database
decides who may add a turn. So a runner may die at any moment, and one that was taken for dead may return: each turn is
stored once.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from uuid import UUID

from spotthebot.clients import PEER_TROUBLE
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections.domain import REQUESTS_TURNS, OpenCollection
from spotthebot.conversations.conversations.domain import PEER_BACKOFF, Conversation, Step
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.conversations.store import turns as turns_store
from spotthebot.conversations.conversations.store.turns import CommittedSteps
from spotthebot.conversations.conversations.use_cases import record_commits, record_requests
from spotthebot.conversations.events.use_cases import publish_failing_bot, publish_finished_collections
from spotthebot.conversations.turn_loop.domain import AcquiredSlots, SlotRequest
from spotthebot.conversations.turn_loop.store import claims as claims_store
from spotthebot.conversations.turn_loop.store import concurrency_slots as concurrency_slots_store
from spotthebot.conversations.turn_loop.store import unavailable_bots as unavailable_bots_store
from spotthebot.conversations.turn_loop.use_cases.bot_backoffs import BotBackoffs
from spotthebot.conversations.turn_loop.use_cases.bot_requests import (
    BotAnswer,
    request_turns,
    slots_needed,
    split_into_requests,
)
from spotthebot.conversations.turn_loop.use_cases.request_batching import RequestBatcher
from spotthebot.kit.database import DATABASE_TROUBLE, Database, WriteSession
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.logs import get_logger
from spotthebot.kit.tracing import linked_trace

_POLL_SECONDS = 0.1
"""Between two checks for concurrency slots or conversations that other runners may have released."""
_CHECK_COLLECTIONS_SECONDS = 1.0
"""A pause or a new priority takes effect after this long, even if no turn is committed meanwhile."""
_DRAIN_SECONDS = 5.0

_log = get_logger(__name__)


@dataclass(frozen=True)
class RunnerLimits:
    """How much a runner does at once."""

    conversations: int
    """Conversations that it carries forward at the same time."""
    contexts: int
    """Contexts in one request to `bots`: the slowest reply of a request delays the others."""


@dataclass(frozen=True)
class _PendingCommit:
    """Steps that are being committed; replies wait meanwhile, since more commits at once cost more a turn."""

    task: asyncio.Task[CommittedSteps]
    steps: Sequence[Step]


@dataclass(frozen=True)
class _PendingRequest:
    """A request to `bots` that was sent, and the concurrency slots that it occupies."""

    conversations: Sequence[Conversation]
    slots: AcquiredSlots


class ConversationRunner:
    """Runs the conversations of one job, until none is left to run or `stopping` returns true."""

    def __init__(
        self,
        database: Database,
        jobs: Jobs,
        bots: Bots,
        job_id: int,
        limits: RunnerLimits,
        stopping: Callable[[], bool],
    ) -> None:
        self._database, self._jobs, self._bots = database, jobs, bots
        self._job_id, self._limits, self._stopping = job_id, limits, stopping
        self._conversations: dict[UUID, Conversation] = {}
        self._pending: dict[asyncio.Task[BotAnswer], _PendingRequest] = {}
        self._commit: _PendingCommit | None = None
        self._slots_to_release: Counter[UUID] = Counter()
        """Concurrency slots whose release failed with their commit, by the id under which they were acquired."""
        self._full_bots: dict[UUID, float] = {}
        """Bots that had no free slot at the last check, and when to check again."""
        self._batcher = RequestBatcher(limits.conversations, limits.contexts)
        self._priorities: dict[UUID, int] = {}
        self._traces: dict[UUID, str | None] = {}
        self._checked_at = float("-inf")
        self._backoffs = 0
        self._bot_backoffs = BotBackoffs()

    async def run(self) -> None:
        """Run conversations until there are none to go on with, then release all of them."""
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
        """Read the job's conversations from the database, where an earlier attempt may have left some."""
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
        """Return conversations to request turns for; by priority, and collections of one priority take turns."""
        busy = {each.id for request in self._pending.values() for each in request.conversations}
        busy |= {each.after.id for each in (self._commit.steps if self._commit else ())}
        seen: Counter[UUID] = Counter()
        ranked = []
        for each in self._conversations.values():
            if each.id not in busy:
                rank = (-self._priorities.get(each.collection_id, 0), seen[each.collection_id])
                seen[each.collection_id] += 1
                ranked.append((rank, each))
        ranked.sort(key=lambda pair: pair[0])
        return [each for _, each in ranked]

    async def _claim_more(self) -> None:
        """Fill the batch with newly claimed conversations; those that wait for a full bot do not count."""
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
        traces = {each.id: each.trace for each in collections}
        self._traces = {each: trace for each, trace in self._traces.items() if each in running} | traces
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
        """Return how many to claim into a full batch: half of it, where collections of lower priority fill it."""
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
            self._checked_at = float("-inf")  # where there was work there may be more
        return len(claimed)

    async def _send_requests(self) -> None:
        """Request turns from the bots that speak next, as far as slots are free at them."""
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
                self._back_off_from(bot, trouble)
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
        with self._in_trace("request turns", conversations[0].collection_id):
            answer = await request_turns(self._bots, conversations)
            record_requests(answer.steps, since)
            return answer

    def _in_trace(self, name: str, collection_id: UUID) -> AbstractContextManager[None]:
        attributes: dict[str, str | int] = {"collection": str(collection_id), "job": self._job_id}
        return linked_trace(name, attributes, self._traces.get(collection_id))

    def _wait_seconds(self) -> float:
        """Return how long to wait for replies before something else is due."""
        longest = _POLL_SECONDS if self._ready() else _CHECK_COLLECTIONS_SECONDS
        return min(longest, self._batcher.seconds_left(time.monotonic()))

    async def _make_progress(self, seconds: float) -> None:
        """Wait for replies, or for their commit: commit the replies that have arrived, apply what was committed."""
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
        """Begin to commit replies as one batch of turns."""
        slots: Counter[UUID] = Counter()
        steps: list[Step] = []
        for task in replies:
            request, answer = self._pending.pop(task), task.result()
            slots[request.slots.id] += len(request.conversations)
            steps += answer.steps
            bot = request.conversations[0].next_bot
            if bot is not None and answer.trouble is not None:
                self._back_off_from(bot, answer.trouble)
            elif bot is not None:
                self._bot_backoffs.succeeded(bot)
        self._batcher.learn(steps)
        self._commit = _PendingCommit(asyncio.create_task(self._commit_steps(steps, slots)), steps)

    async def _commit_steps(self, steps: Sequence[Step], slots: Counter[UUID]) -> CommittedSteps:
        slots += self._slots_to_release
        self._slots_to_release = Counter()
        since = time.time_ns()
        with ExitStack() as traces:  # its statements are in the trace of the last collection
            for collection in dict.fromkeys(each.before.collection_id for each in steps):
                traces.enter_context(self._in_trace("commit turns", collection))
            try:
                async with self._database.write() as session:
                    committed = await turns_store.commit_steps(session, steps)
                    await concurrency_slots_store.release(session, slots)
                    for step in {each.unavailable_bot: each for each in steps}.values():
                        await self._mark_unavailable(session, step)
                    await publish_finished_collections(session, self._jobs, sorted(committed.finished))
            except BaseException:
                self._slots_to_release += slots
                raise
            record_commits(steps, committed.conversations, since)
        return committed

    async def _mark_unavailable(self, session: WriteSession, step: Step) -> None:
        if step.unavailable_bot is None:
            return
        bot_id, name, reason = step.unavailable_bot, step.before.next_name, step.reason or "It does not reply."
        if await unavailable_bots_store.mark_unavailable(session, bot_id, name=name, reason=reason):
            with self._in_trace("report bot", step.before.collection_id):
                await publish_failing_bot(session, bot_id, name, reason)

    def _apply(self, steps: Sequence[Step], committed: CommittedSteps) -> None:
        """Keep conversations whose step was committed; drop those that ended, wait, or belong to another runner now."""
        for each in steps:
            self._conversations.pop(each.after.id, None)
            if each.after.id in committed.conversations and not each.is_released:
                self._conversations[each.after.id] = each.after  # at the end: the others come first now
            if committed.collections.get(each.after.collection_id) not in REQUESTS_TURNS:
                self._checked_at = float("-inf")
        self._full_bots = dict.fromkeys(self._full_bots, 0.0)  # slots were released: check at once
        self._backoffs = 0

    def _back_off_from(self, bot_id: UUID, trouble: Exception) -> None:
        """Ask one bot nothing for a while: `bots` may be in trouble with it alone, and the others go on."""
        wait = self._bot_backoffs.failed(bot_id, trouble, time.monotonic())
        _log.warning("runner.backs_off", peer="bots", bot=str(bot_id), seconds=wait, reason=str(trouble)[:200])

    async def _back_off(self, error: Exception) -> None:
        """Wait for the database, which every conversation needs; no attempt is counted against any conversation."""
        self._backoffs += 1
        wait = PEER_BACKOFF.seconds(self._backoffs)
        _log.warning("runner.backs_off", peer="database", seconds=wait, reason=str(error)[:200])
        await asyncio.sleep(wait)

    async def _drain(self) -> None:
        """Receive and commit replies to pending requests, as long as there is time."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        while (self._pending or self._commit) and time.monotonic() < deadline:
            await self._make_progress(deadline - time.monotonic())

    async def _end_commit(self) -> None:
        """Wait for the commit under way, whatever comes of it: the database knows."""
        if self._commit is not None:
            await asyncio.gather(self._commit.task, return_exceptions=True)
            self._commit = None

    async def _end(self) -> None:
        await self._end_commit()
        await self._release()

    async def _release(self, ids: Sequence[UUID] | None = None) -> None:
        """Release conversations, or all of them, to other runners; where that fails, maintenance does it later."""
        try:
            async with self._database.write() as session:
                await claims_store.release(session, self._job_id, ids)
        except DATABASE_TROUBLE as error:
            _log.warning("runner.release_failed", reason=str(error)[:200])
        for each in list(self._conversations) if ids is None else ids:
            self._conversations.pop(each, None)
