"""Cycles of a claim, 20 answers and a submit at 1, 50 and 200 annotators, beside a bare application.

Both serve on the same PostgreSQL, with 1 and 2 processes, on tables filled alike, in turn. The protocol has all
questions in one step, so that an answer is one request. `SPOTTHEBOT_BENCHMARK_SECONDS` is how long each of the twelve
cells works.
"""

import asyncio
import os
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
from tests.factories.filled_campaigns import fill_campaign
from tests.factories.processes import Installation, prepared_installation

ANNOTATORS, PROCESSES, SIZE, PACKAGES = (1, 50, 200), (1, 2), 20, 5_000
SECONDS = float(os.environ.get("SPOTTHEBOT_BENCHMARK_SECONDS", "15"))
LEAST_SHARE, LONGEST_SAVE_MS, ANNOTATORS_OF_GOAL = 0.5, 200, 50


def measure() -> list[Measurement]:
    """Let annotators work on ours and on the bare application, in turn."""
    with prepared_installation() as installation:
        add_protocol(installation)
        return asyncio.run(_measure(installation))


async def _measure(installation: Installation) -> list[Measurement]:
    measurements = []
    for processes in PROCESSES:
        async with (
            annotation(installation, processes) as ours,
            bare_application(installation, processes, ours.key) as bare,
        ):
            for annotators in ANNOTATORS:
                done = await _work(installation, ours, annotators)
                compared = await _work(installation, bare, annotators)
                measurements.append(_row(processes, annotators, done, compared))
    return measurements


async def _work(installation: Installation, server: Server, annotators: int) -> Work:
    """Work on a campaign of its own, of which PostgreSQL knows the sizes, after a warm-up of a second."""
    url = installation.urls.owner_urls["annotation"]
    campaign_id: UUID = await asyncio.to_thread(
        fill_campaign, url, packages=PACKAGES, size=SIZE, redundancy=1, protocol=PROTOCOL
    )
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    await work(server, campaign_id, annotators=min(4, annotators), seconds=1)
    return await work(server, campaign_id, annotators=annotators, seconds=SECONDS)


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
