"""The commits of a runner: each commits a batch of turns, releases the requests' slots, and publishes events."""

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from uuid import UUID

from spotthebot.conversations.collections.domain import OpenCollection
from spotthebot.conversations.conversations.domain import Step
from spotthebot.conversations.conversations.store import turns as turns_store
from spotthebot.conversations.conversations.store.turns import CommittedSteps
from spotthebot.conversations.conversations.use_cases import record_commits
from spotthebot.conversations.events.use_cases import publish_failing_bot, publish_finished_collections
from spotthebot.conversations.turn_loop.store import concurrency_slots as concurrency_slots_store
from spotthebot.conversations.turn_loop.store import unavailable_bots as unavailable_bots_store
from spotthebot.kit.database.sessions import Database, WriteSession
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.telemetry.tracing import linked_trace


@dataclass(frozen=True)
class PendingCommit:
    """A running commit of steps.

    New replies wait meanwhile, because several commits at once would make each turn more expensive.
    """

    task: asyncio.Task[CommittedSteps]
    steps: Sequence[Step]


class CollectionTraces:
    """The traces of the collections that a job works on."""

    def __init__(self, job_id: int) -> None:
        self._job_id = job_id
        self._traces: dict[UUID, str | None] = {}

    def keep(self, running: Collection[UUID], opened: Iterable[OpenCollection]) -> None:
        """Keep the traces of open collections, and of collections with conversations that the job runs."""
        kept = {each: trace for each, trace in self._traces.items() if each in running}
        self._traces = kept | {each.id: each.trace for each in opened}

    def linked(self, name: str, collection_id: UUID) -> AbstractContextManager[None]:
        """Begin a separate trace that is linked to the collection's trace."""
        attributes: dict[str, str | int] = {"collection": str(collection_id), "job": self._job_id}
        return linked_trace(name, attributes, self._traces.get(collection_id))


class TurnCommits:
    """Commits turns, and releases the slots of their requests with the first commit that succeeds."""

    def __init__(self, database: Database, jobs: Jobs, traces: CollectionTraces) -> None:
        self._database, self._jobs, self._traces = database, jobs, traces
        self._unreleased: Counter[UUID] = Counter()
        """Concurrency slots whose release failed with their commit, by the id of their acquisition."""

    async def commit(self, steps: Sequence[Step], slots: Counter[UUID]) -> CommittedSteps:
        """Commit steps as one batch, and release slots, by the id of their acquisition."""
        slots += self._unreleased
        self._unreleased = Counter()
        since = time.time_ns()
        with ExitStack() as traces:  # its statements are in the trace of the last collection
            for collection in dict.fromkeys(each.before.collection_id for each in steps):
                traces.enter_context(self._traces.linked("commit turns", collection))
            try:
                async with self._database.write() as session:
                    committed = await turns_store.commit_steps(session, steps)
                    await concurrency_slots_store.release(session, slots)
                    for step in {each.unavailable_bot: each for each in steps}.values():
                        await self._mark_unavailable(session, step)
                    await publish_finished_collections(session, self._jobs, sorted(committed.finished))
            except BaseException:
                self._unreleased += slots
                raise
            record_commits(steps, committed.conversations, since)
        return committed

    async def _mark_unavailable(self, session: WriteSession, step: Step) -> None:
        if step.unavailable_bot is None:
            return
        bot_id, name, reason = step.unavailable_bot, step.before.next_name, step.reason or "It does not reply."
        if await unavailable_bots_store.mark_unavailable(session, bot_id, name=name, reason=reason):
            with self._traces.linked("report bot", step.before.collection_id):
                await publish_failing_bot(session, bot_id, name, reason)
