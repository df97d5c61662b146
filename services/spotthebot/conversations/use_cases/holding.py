"""Holding conversations: a runner claims some, has bots say their next turns, wave by wave, and claims more.

Every turn is committed before the next is asked for. What the runner knows of its conversations is only a copy: the
database decides who may add a turn, so that a runner may die at any moment, and one that was thought dead may come
back, and each turn is there once.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.contracts.conversations import CollectionState
from spotthebot.conversations import store
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.conversations.domain.stepping import Step
from spotthebot.conversations.store.claims import Open
from spotthebot.conversations.store.places import Taken
from spotthebot.conversations.store.waves import Written, lets_go
from spotthebot.conversations.use_cases.asking import Answer, ask, places_wanted, requests
from spotthebot.conversations.use_cases.gathering import Gathering
from spotthebot.conversations.use_cases.telling import tell_bot_is_away, tell_finished
from spotthebot.kit.client import PeerRefused, PeerUnavailable
from spotthebot.kit.database import DATABASE_TROUBLE, Database, WriteSession
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.logs import get_logger

_LOOK_AGAIN_SECONDS = 0.1
"""Between two looks for places or conversations that others may have let go of."""
_STEERED_SECONDS = 1.0
"""A pause or another priority is noticed after this long, wherever no turn is said meanwhile."""
_LONGEST_REST_SECONDS = 5.0
_STOPPING_SECONDS = 5.0

_log = get_logger(__name__)


@dataclass(frozen=True)
class Terms:
    """How much a runner does at once."""

    batch: int
    """Conversations that go on at the same time."""
    contexts: int
    """Contexts in one request to `bots`: the slowest reply of a request holds up the others."""


@dataclass(frozen=True)
class _Question:
    """A request to `bots` that is on its way, and the places at the bot that it takes."""

    conversations: Sequence[Conversation]
    taken: Taken


class Runner:
    """One job's conversations. `stopping` says when to come to an end early."""

    def __init__(
        self, database: Database, jobs: Jobs, bots: Bots, job_id: int, terms: Terms, stopping: Callable[[], bool]
    ) -> None:
        self._database, self._jobs, self._bots = database, jobs, bots
        self._job_id, self._terms, self._stopping = job_id, terms, stopping
        self._held: dict[UUID, Conversation] = {}
        self._asked: dict[asyncio.Task[Answer], _Question] = {}
        self._owed: Counter[UUID] = Counter()
        """Places to give back, by the id under which they were taken."""
        self._full: dict[UUID, float] = {}
        """Bots without a free place at the last look, and when to look again."""
        self._gathering = Gathering(terms.batch, terms.contexts)
        self._priorities: dict[UUID, int] = {}
        self._looked_at = float("-inf")
        self._rests = 0

    async def run(self) -> None:
        """Hold conversations until there are none to go on with, then let go of all."""
        try:
            await self._recollect(again=True)
            while not self._stopping():
                try:
                    await self._top_up()
                    if not self._held:
                        return
                    await self._ask()
                    await self._hear(self._patience())
                except DATABASE_TROUBLE as error:
                    await self._rest("database", error)
                    await self._recollect()
            await self._finish_asking()
        finally:
            for task in self._asked:
                task.cancel()
            await asyncio.gather(*self._asked, return_exceptions=True)
            await asyncio.shield(self._let_go())

    async def _recollect(self, *, again: bool = False) -> None:
        """Go by the database alone: by what an earlier attempt of this job, or an interrupted commit, left there."""
        while True:
            try:
                if again:  # nobody waits for what an earlier attempt asked
                    async with self._database.write() as session:
                        await store.places.free(session, self._job_id)
                async with self._database.read() as session:
                    self._held = {each.id: each for each in await store.conversations.list_held(session, self._job_id)}
            except DATABASE_TROUBLE as error:
                await self._rest("database", error)
            else:
                return

    def _asked_ids(self) -> set[UUID]:
        return {each.id for question in self._asked.values() for each in question.conversations}

    def _ready(self) -> list[Conversation]:
        """Return what can be asked for next, in the order of turns: collections take turns, within their priority."""
        asked = self._asked_ids()
        seen: Counter[UUID] = Counter()
        ranked = []
        for each in self._held.values():
            if each.id not in asked:
                rank = (-self._priorities.get(each.collection_id, 0), seen[each.collection_id])
                seen[each.collection_id] += 1
                ranked.append((rank, each))
        ranked.sort(key=lambda pair: pair[0])
        return [each for _, each in ranked]

    async def _top_up(self) -> None:
        """Claim conversations for whatever of the batch is not in use; those that wait for a full bot do not count."""
        now = time.monotonic()
        waiting = [each for each in self._ready() if each.next_bot in self._full]
        self._full = {bot: until for bot, until in self._full.items() if bot in {each.next_bot for each in waiting}}
        room = self._terms.batch - (len(self._held) - len(waiting))
        hungry = room > self._terms.batch // 4 and now - self._looked_at > _LOOK_AGAIN_SECONDS
        if self._held and not hungry and now - self._looked_at < _STEERED_SECONDS:
            return
        self._looked_at = now
        async with self._database.read() as session:
            collections = await store.claims.list_open(session)
        self._priorities = {each.id: each.priority for each in collections}
        going_on = set(self._priorities)
        let_go = [each.id for each in self._ready() if each.collection_id not in going_on]
        let_go += [each.id for each in waiting if each.collection_id in going_on][self._terms.batch :]
        if let_go:
            await self._let_go(let_go)
        for collection in collections:
            limit = max(room, self._overtaking(collection))
            if limit > 0:
                full = {each.next_bot for each in waiting if each.collection_id == collection.id}
                room -= await self._claim(collection.id, limit, [bot for bot in full if bot is not None])

    def _overtaking(self, collection: Open) -> int:
        """Count what may be claimed although the batch is full: half of it, where something less urgent fills it."""
        held: Counter[UUID] = Counter(each.collection_id for each in self._held.values())
        if all(self._priorities.get(each, 0) >= collection.priority for each in held):
            return 0
        return self._terms.batch // 2 - held[collection.id]

    async def _claim(self, collection_id: UUID, limit: int, full: Sequence[UUID]) -> int:
        async with self._database.write() as session:
            ids = await store.claims.claim(session, self._job_id, collection_id, limit=limit, full=full)
            claimed = await store.conversations.list_given(session, ids) if ids else []
        self._held |= {each.id: each for each in claimed}
        if claimed:
            self._looked_at = float("-inf")  # where there was work there may be more
        return len(claimed)

    async def _ask(self) -> None:
        """Ask the bots whose turn it is, as far as there are places at them."""
        waiting: dict[UUID, list[Conversation]] = defaultdict(list)
        now = time.monotonic()
        for each in self._ready():
            if each.next_bot is not None and self._full.get(each.next_bot, 0.0) <= now:
                waiting[each.next_bot].append(each)
        chosen = self._gathering.choose(waiting, under_way=len(self._asked), now=now)
        if not chosen:
            return
        try:
            wanted = {bot: await places_wanted(self._bots, bot, len(each)) for bot, each in chosen.items()}
        except (PeerUnavailable, PeerRefused) as trouble:
            await self._rest("bots", trouble)
            return
        async with self._database.write() as session:
            taken = await store.places.take(session, self._job_id, wanted)
        until = time.monotonic() + _LOOK_AGAIN_SECONDS
        for bot, conversations in chosen.items():
            places = taken[bot].places if bot in taken else 0
            self._full.pop(bot, None)
            if places < len(conversations):
                self._full[bot] = until
            for group in requests(conversations[:places], self._terms.contexts):
                task = asyncio.create_task(ask(self._bots, group))
                self._asked[task] = _Question(group, taken[bot])

    def _patience(self) -> float:
        """How long to wait for replies before something else is to be done."""
        longest = _LOOK_AGAIN_SECONDS if self._ready() else _STEERED_SECONDS
        return min(longest, self._gathering.seconds_left(time.monotonic()))

    async def _hear(self, seconds: float) -> None:
        """Wait for replies, and write all that are there as one wave."""
        if not self._asked:
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            return
        done, _ = await asyncio.wait(self._asked, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            return
        for task in done:
            question = self._asked.pop(task)
            self._owed[question.taken.id] += len(question.conversations)
        answers = [task.result() for task in done]
        steps = [each for answer in answers for each in answer.steps]
        self._gathering.note(steps)
        self._note(steps, await self._write(steps))
        troubles = [answer.trouble for answer in answers if answer.trouble is not None]
        if troubles:
            await self._rest("bots", troubles[0])
        else:
            self._rests = 0

    async def _write(self, steps: Sequence[Step]) -> Written:
        async with self._database.write() as session:
            written = await store.waves.write(session, steps)
            await store.places.give_back(session, self._owed)
            for away in {each.away: each for each in steps if each.away is not None}.values():
                await self._mark_away(session, away)
            await tell_finished(session, self._jobs, sorted(written.finished))
        self._owed.clear()
        return written

    async def _mark_away(self, session: WriteSession, away: Step) -> None:
        if away.away is None:
            return
        name, reason = away.before.next_name, away.reason or "It does not answer."
        if await store.places.mark_away(session, away.away, name=name, reason=reason):
            await tell_bot_is_away(session, away.away, name, reason)

    def _note(self, steps: Sequence[Step], written: Written) -> None:
        """Go on with what was written; drop what ended, waits, or is somebody else's."""
        for each in steps:
            self._held.pop(each.after.id, None)
            goes_on = written.collections.get(each.after.collection_id) is CollectionState.COLLECTING
            if each.after.id in written.conversations and not lets_go(each):
                self._held[each.after.id] = each.after  # at the end: the others come first now
            if not goes_on:
                self._looked_at = float("-inf")
        self._full = dict.fromkeys(self._full, 0.0)  # places have come free: look at once

    async def _rest(self, peer: str, error: Exception) -> None:
        """Wait for something without which no conversation goes on; it is no conversation's fault."""
        wait = min(_LONGEST_REST_SECONDS, 0.25 * 2.0**self._rests)
        self._rests += 1
        _log.warning("runner.rests", peer=peer, seconds=wait, reason=str(error)[:200])
        await asyncio.sleep(wait)

    async def _finish_asking(self) -> None:
        """Take in what is on its way, as long as there is time."""
        deadline = time.monotonic() + _STOPPING_SECONDS
        while self._asked and time.monotonic() < deadline:
            await self._hear(deadline - time.monotonic())

    async def _let_go(self, ids: Sequence[UUID] | None = None) -> None:
        """Leave conversations to others; where that fails, whoever oversees the runners does it."""
        try:
            async with self._database.write() as session:
                await store.claims.release(session, self._job_id, ids)
        except DATABASE_TROUBLE as error:
            _log.warning("runner.kept", reason=str(error)[:200])
        for each in list(self._held) if ids is None else ids:
            self._held.pop(each, None)
