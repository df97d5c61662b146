"""A tiny hosted GPT-2, one context at a time against batches, in our own worker process and on Triton.

Both ways have the same askers; they differ in the largest batch alone, and take turns.
"""

import asyncio
import itertools
import json
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.bots.load import Ask, Round, load, median_speed, times_for
from benchmarks.bots.measurement import Measurement
from benchmarks.bots.random_gpt2 import SENTENCES, TINY, make_gpt2
from spotthebot.bots.protocols.triton import generation_request
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.contracts.bots.protocols import Sampling
from spotthebot.inference.errors import TritonNotHere
from spotthebot.inference.models.dialogue import kind as dialogue_kind
from spotthebot.inference.statistics import BatchStatistics
from spotthebot.inference.triton.control import TritonControl
from spotthebot.inference.triton.repository import write_model
from spotthebot.inference.workers.pool import ModelWorkers
from spotthebot.inference.workers.worker import WorkerModel
from spotthebot.local.triton import development_server

IN_FLIGHT = (1, 8, 32)
BATCHES = {"alone": 1, "batched": 32}
_COMPARED = "alone"
ROUNDS, SECONDS = 3, 1.5
_SAMPLING = Sampling(max_new_tokens=40)
_GOAL_IN_FLIGHT, _GOAL = 32, 8.0
_TOY_MODELS = {"BATCHES": {"batched": 32}, "_COMPARED": "batched"}  # one alone: Triton imports torch for each
TOY = {"IN_FLIGHT": (2,), "ROUNDS": 1, "SECONDS": 0.05, "_SAMPLING": Sampling(max_new_tokens=2), **_TOY_MODELS}

Reply = Callable[[Mapping[str, Any]], Awaitable[str]]
"""Asks for one reply and returns its text."""
Count = Callable[[], Awaitable[BatchStatistics | None]]


@dataclass
class _Way:
    """One model and one number of askers: its rounds, and how many replies and batches they came to."""

    ask: Ask
    count: Count
    askers: int
    times: int = 1
    rounds: list[Round] = field(default_factory=list)
    replies: int = 0
    batches: int = 0

    async def go(self) -> None:
        before = await self.count()
        self.rounds.append(await load(self.ask, askers=self.askers, times=self.times))
        after = await self.count()
        if before is not None and after is not None:
            self.replies += after.requests - before.requests
            self.batches += after.batches - before.batches

    @property
    def mean_batch_size(self) -> float:
        return self.replies / max(1, self.batches)


def measure() -> Iterator[Measurement]:
    """Measure both hosts; where Triton can't run, its row says why."""
    with tempfile.TemporaryDirectory(prefix="stb-benchmark-") as folder:
        model = make_gpt2(Path(folder) / "model", TINY)
        yield from asyncio.run(_in_workers(model))
        try:
            yield from asyncio.run(_on_triton(Path(folder) / "server", model))
        except TritonNotHere as error:
            yield Measurement(work=_work("Triton"), ours="-", compared="-", result=error.detail)


async def _in_workers(directory: Path) -> list[Measurement]:
    workers = ModelWorkers()
    models = {
        name: WorkerModel(dialogue_kind.KIND, str(directory), device="cpu", max_batch_size=size, max_queue_delay_ms=2.0)
        for name, size in BATCHES.items()
    }

    async def count(model: WorkerModel) -> BatchStatistics | None:
        return workers.statistics(model)

    async def reply(model: WorkerModel, request: Mapping[str, Any]) -> str:
        return str((await workers.infer(model, request))["text"])

    asks = {name: _ask(partial(reply, model)) for name, model in models.items()}
    try:
        return await _measure("own worker process", asks, {name: partial(count, each) for name, each in models.items()})
    finally:
        await workers.close()


async def _on_triton(folder: Path, directory: Path) -> list[Measurement]:
    async with development_server(folder) as server, TritonControl(server.grpc, probe=dialogue_kind.PROBE) as control:
        for name, size in BATCHES.items():
            write_model(server.repository, name, directory, kind=dialogue_kind.KIND, max_batch_size=size)
            await control.load(name)

        async def reply(model: str, request: Mapping[str, Any]) -> str:
            return str(json.loads(await control.client.infer(model, json.dumps(request)))["text"])

        asks = {name: _ask(partial(reply, name)) for name in BATCHES}
        return await _measure("Triton", asks, {name: partial(control.statistics, name) for name in BATCHES})


async def _measure(host: str, asks: Mapping[str, Ask], counts: Mapping[str, Count]) -> list[Measurement]:
    ways = {(n, name): _Way(asks[name], counts[name], n) for n, name in itertools.product(IN_FLIGHT, BATCHES)}
    for way in ways.values():
        way.times = await times_for(way.ask, askers=way.askers, seconds=SECONDS)
    for _, way in itertools.product(range(ROUNDS), ways.values()):
        await way.go()
    return [_row(host, ways[n, "batched"], ways[n, _COMPARED]) for n in IN_FLIGHT]


def _ask(reply: Reply) -> Ask:
    seeds = itertools.count()

    async def ask() -> int:
        seed = next(seeds)
        turns = tuple(SENTENCES[(seed + at) % len(SENTENCES)] for at in range(1 + seed % 3))
        return int(bool(await reply(generation_request(Context(turns, seed), _SAMPLING))))

    return ask


def _row(host: str, batched: _Way, alone: _Way) -> Measurement:
    ours, compared = median_speed(batched.rounds), median_speed(alone.rounds)
    ratio = ours.replies_per_second / compared.replies_per_second
    has_goal = batched.askers == _GOAL_IN_FLIGHT
    return Measurement(
        work=f"{_work(host)}, {batched.askers} at the same time",
        ours=f"batches of up to {BATCHES['batched']}: {ours}",
        compared=f"one at a time: {compared}",
        result=f"{ratio:.1f}x, {batched.mean_batch_size:.1f} in a batch",
        goal=f">= {_GOAL:g}x" if has_goal else "-",
        reached=ratio >= _GOAL if has_goal else None,
    )


def _work(host: str) -> str:
    return f"GPT-2 of {TINY.layers} layers of {TINY.width}, {_SAMPLING.max_new_tokens} tokens a reply, {host}"
