"""Two million turns in the tables: how long the service's queries take, and whether indexes answer all of them."""

import asyncio
import statistics
import time
from functools import partial

from sqlalchemy.engine import make_url

from benchmarks.bots.measurement import Measurement
from spotthebot.kit.database.sessions import Database
from tests.factories.grown_queries import COUNTS, QUERIES, list_plans, scanned_tables
from tests.factories.grown_tables import Grown, grow
from tests.factories.processes import prepared_installation

TURNS = 2_000_000
TOY = {"TURNS": 20_000, "_REPEATS": 1}
_REPEATS = 9
_MAX_LOAD_SECONDS, _MAX_MS, _MAX_COUNT_MS = 40, 20, 100


def measure() -> list[Measurement]:
    """Load two million turns, then time every query and look at its plans."""
    with prepared_installation() as installation:
        app_url = installation.urls.app_urls["conversations"]
        admin_url = make_url(installation.cluster.admin_url).set(database=make_url(app_url).database)
        began = time.monotonic()
        grown = grow(admin_url.render_as_string(hide_password=False), TURNS)
        load_seconds = time.monotonic() - began
        rows = asyncio.run(_measure(app_url, grown))
    loaded = Measurement(
        work=f"{grown.turns:,} turns are loaded",
        ours=f"{load_seconds:.1f} s",
        compared="-",
        result=f"{grown.turns / load_seconds:,.0f} turns/s",
        goal=f"< {_MAX_LOAD_SECONDS} s",
        reached=load_seconds < _MAX_LOAD_SECONDS,
    )
    return [loaded, *rows]


async def _measure(url: str, grown: Grown) -> list[Measurement]:
    database = Database(url, pool_size=2)
    rows = []
    for name, work in QUERIES.items():
        times = []
        for _ in range(_REPEATS):
            async with database.write() as session:
                began = time.perf_counter()
                await work(session, grown)
                times.append((time.perf_counter() - began) * 1000)
                await session.rollback()
        async with database.write() as session:
            scanned = scanned_tables(await list_plans(session, partial(work, session, grown)))
            await session.rollback()
        goal = _MAX_COUNT_MS if name in COUNTS else _MAX_MS
        rows.append(
            Measurement(
                work=f"{grown.turns:,} turns: {name}",
                ours=f"{min(times):.1f} ms, median {statistics.median(times):.1f} ms",
                compared="-",
                result=f"reads all of {', '.join(sorted(scanned))}" if scanned else "by indexes",
                goal=f"< {goal} ms, no sequential scan",
                reached=min(times) < goal and not scanned,
            )
        )
    await database.close()
    return rows
