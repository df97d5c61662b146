"""Memory of a worker over a hundred thousand turns: what it says was said is not kept in it."""

import asyncio
import statistics

from benchmarks.bots.measurement import Measurement
from benchmarks.bots.running import lean_bots
from benchmarks.conversations.running import Collected, running_suite
from tests.factories.processes import prepared_installation

CONVERSATIONS, EXCHANGES, BOTS = 10_002, 5, 4
_WARM_UP_TURNS = 10_000
_MAX_GROWTH_MIB = 5.0
TOY = {"CONVERSATIONS": 12, "EXCHANGES": 5, "_WARM_UP_TURNS": 0}


def measure() -> list[Measurement]:
    """Sample resident memory twice a second, and fit a line through what comes after the first tenth."""
    with lean_bots() as (url,), prepared_installation() as installation:

        async def collect() -> Collected:
            async with running_suite(installation) as suite:
                return await suite.collect(
                    await suite.bots(url, BOTS), conversations=CONVERSATIONS, exchanges=EXCHANGES
                )

        ours = asyncio.run(collect())
    warm = [sample for sample in ours.samples if sample.turns >= _WARM_UP_TURNS]
    line = statistics.linear_regression([each.turns for each in warm], [each.rss_mib for each in warm])
    growth = line.slope * ours.turns
    return [
        Measurement(
            work=f"a worker over {ours.turns:,} turns, {ours.seconds:.0f} s, {len(warm)} samples",
            ours=f"at most {max(each.rss_mib for each in warm):.0f} MiB",
            compared=f"after {warm[0].turns:,} turns: {warm[0].rss_mib:.0f} MiB",
            result=f"{line.slope * 2**10 * 1000:+.1f} KiB per 1,000 turns, {growth:+.1f} MiB in all",
            goal=f"flat: less than {_MAX_GROWTH_MIB:.0f} MiB",
            reached=growth < _MAX_GROWTH_MIB,
        )
    ]
