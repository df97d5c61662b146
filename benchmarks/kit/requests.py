"""Processor time of a service process for one request, at 16 askers, beside a bare FastAPI application.

Our service is `bots` as it is served; the bare application (`bare_app`) answers the same reads with the same two
queries on the same PostgreSQL. Both are processes of their own. Processor time is what others on the machine disturb
least; each round measures every request of both in turn, and medians over rounds are shown.
"""

import asyncio
import contextlib
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import httpx
import psutil

from benchmarks.bots.load import load
from benchmarks.bots.measurement import Measurement
from benchmarks.bots.running import HOST, RunningBots, lean_bots, running_bots, running_process
from spotthebot.kit.processes.sockets import bind

ASKERS, TIMES, ROUNDS = 16, 40, 3
BOTS = 50
TOY = {"ASKERS": 2, "TIMES": 2, "ROUNDS": 1, "BOTS": 2}
_UNKNOWN_KEY = f"stb_admin_{'0' * 32}_{'a' * 43}"
_CONTEXT = {"contexts": [{"turns": ["Hello! How are you today?"]}]}


@dataclass
class _Way:
    """One request to one process, and the milliseconds of processor time that it cost in each round."""

    process: psutil.Process
    method: str
    url: str
    key: str
    status: int = 200
    body: Any = None
    rounds: list[float] = field(default_factory=list)

    async def measure(self, session: aiohttp.ClientSession) -> None:
        before = _cpu_seconds(self.process)
        await load(lambda: self._ask(session), askers=ASKERS, times=TIMES)
        self.rounds.append((_cpu_seconds(self.process) - before) * 1000 / (ASKERS * TIMES))

    @property
    def milliseconds(self) -> float:
        return statistics.median(self.rounds)

    async def _ask(self, session: aiohttp.ClientSession) -> int:
        headers = {"Authorization": f"Bearer {self.key}"}
        async with session.request(self.method, self.url, json=self.body, headers=headers) as answer:
            body = await answer.read()
        if answer.status != self.status:
            message = f"{self.url} answered {answer.status}: {body[:200]!r}"
            raise RuntimeError(message)
        return 1


@dataclass
class _Row:
    work: str
    ours: _Way
    bare: _Way | None = None
    max_ratio: float | None = None
    max_milliseconds: float | None = None

    def measurement(self) -> Measurement:
        ours = self.ours.milliseconds
        bare = self.bare.milliseconds if self.bare else None
        reached = [
            *([ours <= self.max_ratio * bare] if self.max_ratio and bare else []),
            *([ours < self.max_milliseconds] if self.max_milliseconds else []),
        ]
        goals = [
            *([f"<= {self.max_ratio:g}x"] if self.max_ratio else []),
            *([f"< {self.max_milliseconds:g} ms"] if self.max_milliseconds else []),
        ]
        return Measurement(
            self.work,
            f"{ours:.2f} ms",
            f"bare application: {bare:.2f} ms" if bare else "-",
            f"{ours / bare:.2f}x" if bare else "-",
            ", ".join(goals) or "-",
            all(reached) if reached else None,
        )


def measure() -> list[Measurement]:
    """Measure every request in turn, several times over."""
    with lean_bots() as (bot,), running_bots() as service, _bare_app(service.database_url) as (url, process):
        with service.client() as client:
            ids = [service.register(client, f"listed-{number}", bot, probe=False) for number in range(BOTS)]
            _wait_until_probed(client, ids)
        rows = _rows(service, process, url, ids[0])
        asyncio.run(_measure([way for row in rows for way in (row.ours, row.bare) if way is not None]))
    return [row.measurement() for row in rows]


def _rows(service: RunningBots, bare: psutil.Process, bare_url: str, bot_id: str) -> list[_Row]:
    def ours(path: str, **more: Any) -> _Way:  # noqa: ANN401 - the fields of a way
        return _Way(service.process, "GET", f"{service.url}{path}", **({"key": service.key} | more))

    def theirs(path: str) -> _Way:
        return _Way(bare, "GET", f"{bare_url}{path}", service.key)

    one, page = f"/v1/bots/{bot_id}", "/v1/bots?limit="
    reply = _Way(service.process, "POST", f"{service.url}{one}/replies", service.key, body=_CONTEXT)
    return [
        _Row("`/healthz`", ours("/healthz"), theirs("/healthz")),
        _Row("401 for an unknown key", ours(one, key=_UNKNOWN_KEY, status=401)),
        _Row("`GET /v1/bots/{id}`", ours(one), theirs(one), max_ratio=1.5, max_milliseconds=1.2),
        _Row("`GET /v1/bots`, a list of 1", ours(f"{page}1"), theirs(f"{page}1"), max_ratio=1.5),
        _Row("`GET /v1/bots`, a list of 50", ours(f"{page}50"), theirs(f"{page}50"), max_ratio=1.5),
        _Row("`POST /v1/bots/{id}/replies`, one context", reply),
    ]


async def _measure(ways: Sequence[_Way]) -> None:
    connector = aiohttp.TCPConnector(limit=ASKERS)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=60)) as session:
        for _ in range(1 + ROUNDS):
            for way in ways:
                await way.measure(session)
    for way in ways:
        del way.rounds[0]  # warms connections, prepared statements and caches up


def _wait_until_probed(client: httpx.Client, ids: Sequence[str]) -> None:
    for bot_id in ids:
        client.post(f"/v1/bots/{bot_id}/probes").raise_for_status()


@contextlib.contextmanager
def _bare_app(database_url: str) -> Iterator[tuple[str, psutil.Process]]:
    with closing(bind(HOST, 0)) as listening:
        descriptor = listening.fileno()
        url = f"http://{HOST}:{listening.getsockname()[1]}"
        arguments = ("benchmarks.kit.bare_app", str(descriptor))
        environment = {"DATABASE_URL": database_url}
        with running_process(arguments, [descriptor], environment=environment) as process:
            httpx.get(f"{url}/healthz", timeout=60, trust_env=False).raise_for_status()
            yield url, psutil.Process(process.pid)


def _cpu_seconds(process: psutil.Process) -> float:
    """Read the process's own clock, which is exact: the ticks of /proc are 10 ms each."""
    return time.clock_gettime((~process.pid << 3) | 2)  # what clock_getcpuclockid(3) returns
