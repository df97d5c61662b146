"""Cycles of a claim, 20 answers and a submit at 1, 50 and 200 annotators, beside a bare application.

Both serve on the same PostgreSQL, with 1 and 2 processes, on tables filled alike, and work in turn, three times each,
so that what else the machine does meets both. The protocol has all questions in one step, so that an answer is one
request. `SPOTTHEBOT_BENCHMARK_SECONDS` is how long each of the twelve cells works.
"""

import asyncio
import os
from collections.abc import Iterator
from uuid import UUID

import psycopg

from benchmarks.annotation.running import (
    PROTOCOL,
    Server,
    Work,
    add_protocol,
    annotation,
    bare_application,
    milliseconds,
    work,
)
from benchmarks.bots.measurement import Measurement
from tests.factories.processes import Installation, prepared_installation
from tests.factories.stored_campaigns import fill_campaign

ANNOTATORS, PROCESSES, SIZE, PACKAGES = (1, 50, 200), (1, 2), 20, 5_000
SECONDS = float(os.environ.get("SPOTTHEBOT_BENCHMARK_SECONDS", "24"))
ROUNDS, WARM_UP_SECONDS = 3, 1.0
TOY = {
    "ANNOTATORS": (2,),
    "PROCESSES": (1,),
    "SIZE": 2,
    "PACKAGES": 200,
    "SECONDS": 0.2,
    "ROUNDS": 1,
    "WARM_UP_SECONDS": 0.1,
}
LEAST_SHARE, LONGEST_SAVE_MS, ANNOTATORS_OF_GOAL = 0.5, 200, 50


def measure() -> Iterator[Measurement]:
    """Let annotators work on ours and on the bare application, in turn."""
    with prepared_installation() as installation, asyncio.Runner() as runner:
        add_protocol(installation)
        for processes in PROCESSES:
            yield from runner.run(_measure(installation, processes))


async def _measure(installation: Installation, processes: int) -> list[Measurement]:
    measurements = []
    url = installation.urls.owner_urls["annotation"]
    async with (
        annotation(installation, processes) as ours,
        bare_application(installation, processes, ours.key) as bare,
    ):
        for annotators in ANNOTATORS:
            done = [(server, await _prepare(url, server, annotators), Work()) for server in (ours, bare)]
            for server, campaign_id, so_far in done * ROUNDS:
                await work(server, campaign_id, so_far, annotators=annotators, seconds=SECONDS / ROUNDS)
            measurements.append(_row(processes, annotators, *(found for _, _, found in done)))
    return measurements


async def _prepare(owner_url: str, server: Server, annotators: int) -> UUID:
    """Make a campaign to work on, of which PostgreSQL knows the sizes, and warm its server up for a second."""
    campaign_id: UUID = await asyncio.to_thread(
        fill_campaign, owner_url, packages=PACKAGES, size=SIZE, redundancy=1, protocol=PROTOCOL
    )
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    await work(server, campaign_id, Work(), annotators=min(4, annotators), seconds=WARM_UP_SECONDS)
    return campaign_id


def _row(processes: int, annotators: int, ours: Work, bare: Work) -> Measurement:
    share = ours.cycles_per_second / bare.cycles_per_second
    reached, goals = [share >= LEAST_SHARE], [f">= {LEAST_SHARE:g}x"]
    if annotators == ANNOTATORS_OF_GOAL:
        reached.append(milliseconds(ours.saves, 0.99) < LONGEST_SAVE_MS)
        goals.append(f"p99 < {LONGEST_SAVE_MS} ms")
    return Measurement(
        f"{annotators} annotator{'s' if annotators > 1 else ''}, {processes} process{'es' if processes > 1 else ''}",
        str(ours),
        f"bare application: {bare}",
        f"{share:.2f}x",
        ", ".join(goals),
        all(reached),
    )
