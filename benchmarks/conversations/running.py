"""The whole suite as it is installed, a collection held on it from start to end, and what that came to."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import psutil
import psycopg

from tests.factories.collecting import register, start
from tests.factories.processes import Installation, Processes, running_processes

_LONGEST_SECONDS = 600
_LOOK_SECONDS = 0.5
_BESIDE = {"annotation": 1, "analytics": 1, "annotation-worker": 1, "analytics-worker": 1}
_SETTINGS: Mapping[str, Mapping[str, str]] = {}
_UNFINISHED = ["todo", "doing"]
TOY = {
    "_LOOK_SECONDS": 0.1,
    "_BESIDE": {},
    "_SETTINGS": {"conversations": {"QUALITY_CHECKS_AT_ONCE": "0"}},  # each check starts a process
    "_UNFINISHED": ["doing"],
}


@dataclass(frozen=True)
class Sample:
    """Resident memory of a worker at a moment, and how many turns there were by then."""

    turns: int
    rss_mib: float


@dataclass(frozen=True)
class Collected:
    """A collection that has ended: `seconds` from the request that planned it to the commit of its last turn."""

    conversations: int
    turns: int
    seconds: float
    cpu_seconds: dict[str, float]
    """Processor time by kind of process, PostgreSQL included, the bot and this process left out."""
    samples: list[Sample] = field(default_factory=list)

    @property
    def cpu_ms(self) -> float:
        """Processor time for a turn: what others on the machine disturb least."""
        return sum(self.cpu_seconds.values()) * 1000 / self.turns

    def costs(self) -> str:
        """Say what a turn costs, and where."""
        parts = sorted(self.cpu_seconds.items(), key=lambda part: -part[1])
        reported = ", ".join(f"{name} {seconds * 1000 / self.turns:.2f}" for name, seconds in parts if seconds > 0.05)
        return f"{self.cpu_ms:.2f} ms of processor a turn ({reported})"

    @property
    def turns_per_second(self) -> float:
        return self.turns / self.seconds


@dataclass(frozen=True)
class Suite:
    """What runs: every service and worker, each a process of its own."""

    processes: Processes

    async def bots(self, url: str, count: int) -> list[str]:
        """Register lean bots, which bear 256 questions at once each."""
        return [await register(self.processes, f"lean-{n}", url, concurrency=256) for n in range(count)]

    async def collect(self, bots: list[str], *, conversations: int, exchanges: int) -> Collected:
        """Let every pair of bots hold its share of so many conversations."""
        used = self.read_cpu_seconds()
        pairs = len(bots) * (len(bots) - 1) // 2
        collection = await start(
            self.processes,
            mode="all_play_all",
            bots=bots,
            exchanges=exchanges,
            conversations_per_pair=conversations // pairs,
        )
        worker = psutil.Process(self.processes.pid("conversations-worker-1"))
        samples: list[Sample] = []
        client = await self.processes.client("conversations")
        async with asyncio.timeout(_LONGEST_SECONDS):
            while True:
                found: dict[str, Any] = (await client.get(f"/v1/collections/{collection}")).raise_for_status().json()
                samples.append(Sample(found["turns"], worker.memory_info().rss / 2**20))
                if found["state"] == "complete":
                    break
                await asyncio.sleep(_LOOK_SECONDS)
        if found["failed"]:
            message = f"{found['failed']} conversations failed: {self.processes.last_words()}"
            raise RuntimeError(message)
        began, ended = (datetime.fromisoformat(found[name]) for name in ("created_at", "finished_at"))
        spent = {name: seconds - used.get(name, 0) for name, seconds in self.read_cpu_seconds().items()}
        return Collected(found["complete"], found["turns"], (ended - began).total_seconds(), spent, samples)

    async def settle(self) -> None:
        """Wait until what follows a collection is done: its conversations are flagged, in a process of its own."""
        unfinished = "SELECT count(*) FROM conversations.procrastinate_jobs WHERE status::text = ANY(%s)"
        url = self.processes.database.owner["conversations"]
        async with (
            asyncio.timeout(_LONGEST_SECONDS),
            await psycopg.AsyncConnection.connect(url, autocommit=True) as connection,
        ):
            while True:
                found = await connection.execute(unfinished, [_UNFINISHED])
                if await found.fetchone() == (0,):
                    return
                await asyncio.sleep(_LOOK_SECONDS)

    def read_cpu_seconds(self) -> dict[str, float]:
        """Return the processor time that each kind of process has used so far."""
        used: dict[str, float] = defaultdict(float)
        for name in (*self.processes.names, "postgres"):
            first = psutil.Process(self.processes.pid(name))
            ended = first.cpu_times()
            used[name.rstrip("-0123456789")] += ended.children_user + ended.children_system
            for each in (first, *first.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):  # a connection that is closed counts with its parent from then on
                    times = each.cpu_times()
                    used[name.rstrip("-0123456789")] += times.user + times.system
        return used


@asynccontextmanager
async def running_suite(installation: Installation, *, workers: int = 1) -> AsyncIterator[Suite]:
    """Run all services, with so many workers of `conversations`."""
    counts = {"bots": 1, "conversations": 1, "conversations-worker": workers, **_BESIDE}
    async with running_processes(installation, counts=counts, settings=_SETTINGS) as processes:
        yield Suite(processes)
