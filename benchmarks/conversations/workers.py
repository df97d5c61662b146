"""Two worker processes against one, where bots answer at once and where they take their time."""

import asyncio

from benchmarks.bots.measurement import Measurement
from benchmarks.bots.running import lean_bots
from benchmarks.conversations.running import Collected, running_suite
from tests.factories.processes import Installation, prepared_installation

DELAYS_MS = {0: (1800, 5), 100: (1800, 5)}
"""Conversations and exchanges by what a reply takes."""
BOTS, WARM_UP = 4, 120
TOY = {"DELAYS_MS": {0: (12, 1)}, "WARM_UP": 6}


def measure() -> list[Measurement]:
    """Measure the same collections with one worker and with two, on one database."""
    with lean_bots() as (url,), prepared_installation() as installation:
        one, two = (asyncio.run(_collect(installation, url, workers)) for workers in (1, 2))
    return [_row(delay, one[delay], two[delay]) for delay in DELAYS_MS]


def _row(delay: int, one: Collected, two: Collected) -> Measurement:
    return Measurement(
        work=f"{DELAYS_MS[delay][0]:,} conversations of {2 * DELAYS_MS[delay][1]} turns, bots of {delay} ms",
        ours=f"two workers: {two.turns_per_second:,.0f} turns/s, {two.cpu_ms:.2f} ms of processor a turn",
        compared=f"one worker: {one.turns_per_second:,.0f} turns/s, {one.cpu_ms:.2f} ms",
        result=f"{two.turns_per_second / one.turns_per_second:.2f}x",
    )


async def _collect(installation: Installation, url: str, workers: int) -> dict[int, Collected]:
    found: dict[int, Collected] = {}
    async with running_suite(installation, workers=workers) as suite:
        for delay, (conversations, exchanges) in DELAYS_MS.items():
            bots = await suite.bots(f"{url}/after/{delay}", BOTS)
            await suite.collect(bots, conversations=WARM_UP, exchanges=2)
            await suite.settle()
            found[delay] = await suite.collect(bots, conversations=conversations, exchanges=exchanges)
    return found
