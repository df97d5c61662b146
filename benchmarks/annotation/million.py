"""Claims in a campaign with a million items, of which the first half is done."""

import asyncio
import os

import aiohttp
import psycopg

from benchmarks.annotation.running import annotation, claim, milliseconds
from benchmarks.bots.measurement import Measurement
from tests.factories.processes import Installation, prepared_installation
from tests.factories.stored_campaigns import fill_campaign

ITEMS, SIZE, CLAIMS, LONGEST_CLAIM_MS = int(os.environ.get("SPOTTHEBOT_BENCHMARK_ITEMS", "1000000")), 20, 200, 20
TOY = {"ITEMS": 2000, "CLAIMS": 5}
_HALF_IS_DONE = """
    UPDATE annotation.packages SET slots_left = 0 WHERE campaign_id = %s
        AND id < (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY id) FROM annotation.packages)
"""


def measure() -> list[Measurement]:
    """Claim for new annotators, one after the other."""
    with prepared_installation() as installation:
        return asyncio.run(_measure(installation))


async def _measure(installation: Installation) -> list[Measurement]:
    url = installation.urls.owner_urls["annotation"]
    campaign_id = await asyncio.to_thread(fill_campaign, url, packages=ITEMS // SIZE, size=SIZE)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_HALF_IS_DONE, [campaign_id])
        connection.execute("VACUUM ANALYZE")
    times: list[float] = []
    async with annotation(installation, 1) as server:
        headers = {"Authorization": f"Bearer {server.key}"}
        async with aiohttp.ClientSession(server.url, headers=headers) as session:
            for _ in range(20):
                await claim(session, campaign_id, [])
            for _ in range(CLAIMS):
                await claim(session, campaign_id, times)
    p50, p99 = milliseconds(times, 0.5), milliseconds(times, 0.99)
    return [
        Measurement(
            f"a claim among {ITEMS:,} items",
            f"p50 {p50:.1f}, p99 {p99:.1f} ms",
            "-",
            "-",
            f"p99 < {LONGEST_CLAIM_MS} ms",
            p99 < LONGEST_CLAIM_MS,
        )
    ]
