"""Replies through `bots` against the same bot asked directly, by the same client, in turns.

The lean bot, the service, its PostgreSQL and the client (this process) are processes of their own. The machine may be
shared, so each round measures every way in turn and medians are taken; the processor time that the service used for a
reply is the figure that others on the machine disturb least.
"""

import asyncio
import itertools
import json
import secrets
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import aiohttp

from benchmarks.bots.load import Ask, Round, Speed, load, median_speed, times_for
from benchmarks.bots.measurement import Measurement
from benchmarks.bots.running import RunningBots, lean_bots, running_bots

DELAYS_MS = (100, 0)
IN_FLIGHT = (1, 8, 32, 128)
PER_REQUEST = 32
ROUNDS, SECONDS = 5, 0.8
TOY = {"DELAYS_MS": (0,), "IN_FLIGHT": (1, 2), "PER_REQUEST": 2, "ROUNDS": 1, "SECONDS": 0.05}
_TURNS = (
    "Hello! How are you today?",
    "I am fine, thank you. I went for a walk by the river.",
    "That sounds nice. Do you have a favourite season?",
    "I like autumn best, because of the colours. And you?",
    "Summer, because of the fruit. What did you buy today?",
)


@dataclass
class _Way:
    """One way of asking: how many askers, how many contexts a request, and what its rounds came to."""

    ask: Ask
    askers: int
    times: int = 1
    """How often each asks in a round."""
    rounds: list[Round] = field(default_factory=list)
    cpu_seconds: float = 0.0
    """Processor time of the service over all rounds."""

    async def go(self, bots: RunningBots) -> None:
        used = bots.cpu_seconds()
        self.rounds.append(await load(self.ask, askers=self.askers, times=self.times))
        self.cpu_seconds += bots.cpu_seconds() - used

    @property
    def cpu_ms(self) -> float:
        """Processor time of the service for each reply."""
        return self.cpu_seconds * 1000 / sum(each.replies for each in self.rounds)

    @property
    def speed(self) -> Speed:
        return median_speed(self.rounds)


@dataclass(frozen=True)
class _Client:
    """Asks the bot itself, or through the service."""

    session: aiohttp.ClientSession
    bot_url: str
    replies_url: str
    headers: dict[str, str]

    async def direct(self) -> int:
        """Ask by the webhook's own form."""
        spoken = [{"speaker": "AB"[at % 2], "text": text} for at, text in enumerate(_TURNS)]
        question = {
            "conversation_id": str(uuid.uuid4()),
            "turn": len(_TURNS),
            "domain": "everyday",
            "persona": None,
            "speaker": "B",
            "seed": 1,
            "turns": spoken,
        }
        key = {"Idempotency-Key": secrets.token_hex(16)}
        answer = await self._post(self.bot_url, question, key)
        return int(bool(answer["text"]))

    async def direct_batch(self) -> int:
        """Ask as many as one request holds at once, and wait for all of them."""
        return sum(await asyncio.gather(*(self.direct() for _ in range(PER_REQUEST))))

    async def through(self, contexts: int) -> int:
        asked = [
            {"turns": _TURNS, "seed": 1, "conversation_id": str(uuid.uuid4()), "domain": "everyday"}
            for _ in range(contexts)
        ]
        answer = await self._post(self.replies_url, {"contexts": asked}, self.headers)
        return len([each["text"] for each in answer["replies"] if each["failure"] is None])

    async def _post(self, url: str, body: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        sent = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **headers}
        async with self.session.post(url, data=sent, headers=headers) as response:
            said: dict[str, Any] = json.loads(await response.read())
        if response.status != 200:
            message = f"{url} answered {response.status}: {said}"
            raise RuntimeError(message)
        return said


def measure() -> Iterator[Measurement]:
    """Measure a bot of 100 ms and an instant one, at 1 to 128 concurrent contexts."""
    with lean_bots() as (bot_url,), running_bots() as bots, bots.client() as client:
        for delay in DELAYS_MS:
            url = f"{bot_url}/after/{delay}"
            bot_id = bots.register(client, f"after-{delay}", url)
            yield from asyncio.run(_measure_bot(bots, delay, url, bot_id))


async def _measure_bot(bots: RunningBots, delay: int, url: str, bot_id: str) -> list[Measurement]:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, trust_env=False) as session:
        client = _Client(session, url, f"{bots.url}/v1/bots/{bot_id}/replies", bots.headers)
        found = [await _measure_at(bots, client, in_flight) for in_flight in IN_FLIGHT]
    return [row for ways, in_flight in zip(found, IN_FLIGHT, strict=True) for row in _rows(delay, in_flight, ways)]


async def _measure_at(bots: RunningBots, client: _Client, in_flight: int) -> list[_Way]:
    ways = [_Way(client.direct, in_flight), _Way(partial(client.through, 1), in_flight)]
    if in_flight >= PER_REQUEST:
        requests = in_flight // PER_REQUEST
        ways += [_Way(client.direct_batch, requests), _Way(partial(client.through, PER_REQUEST), requests)]
    for way in ways:
        way.times = await times_for(way.ask, askers=way.askers, seconds=SECONDS)
    for _, way in itertools.product(range(ROUNDS), ways):
        await way.go(bots)
    return ways


def _rows(delay: int, in_flight: int, ways: Sequence[_Way]) -> list[Measurement]:
    direct = ways[0].speed
    rows = [_row(delay, in_flight, 1, ways[1], direct=direct, request=direct)]
    if len(ways) > 2:
        rows.append(_row(delay, in_flight, PER_REQUEST, ways[3], direct=direct, request=ways[2].speed))
    return rows


def _row(delay: int, in_flight: int, contexts: int, way: _Way, *, direct: Speed, request: Speed) -> Measurement:
    """Compare with `direct` for the rate, and for the latency with as many direct questions as a request holds."""
    speed = way.speed
    share = speed.replies_per_second / direct.replies_per_second
    added = speed.p50_ms - request.p50_ms
    goals: list[tuple[str, bool]] = []
    if delay and (in_flight, contexts) == (1, 1):
        goals.append(("p50 < +3 ms", added < 3))
    if delay and (in_flight, contexts) == (PER_REQUEST, 1):
        goals.append((">= 90 % of direct", share >= 0.9))
    if delay and (in_flight, contexts) == (PER_REQUEST, PER_REQUEST):
        goals += [(">= 90 % of direct", share >= 0.9), ("p50 < +10 ms", added < 10)]
    if not delay and contexts == PER_REQUEST:
        goals.append((">= 1,500 replies/s", speed.replies_per_second >= 1500))
    bot = f"bot of {delay} ms" if delay else "instant bot"
    compared = f"direct: {direct}"
    if request is not direct:
        compared += f"; {contexts} at once: p50 {request.p50_ms:.1f} ms"
    return Measurement(
        work=f"{bot}, {in_flight} at the same time, {contexts} a request",
        ours=f"through `bots`: {speed}",
        compared=compared,
        result=f"{share:.0%} of direct, p50 {added:+.1f} ms; {way.cpu_ms:.2f} ms of the service's processor a reply",
        goal=", ".join(goal for goal, _ in goals) or "-",
        reached=all(reached for _, reached in goals) if goals else None,
    )
