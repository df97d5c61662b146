"""What bipartite-play of the published size costs: 11 targets x 24 partners x 600 dialogues of five exchanges.

Bytes are measured on a sample in the real tables and multiplied; the same sum for two million turns is compared with
two million turns that were loaded. Planning is timed on the running suite with the whole collection, and so is the
pace at which one worker then holds it, with bots that answer at once. The times for more workers are computed from
that pace: they hold where processors and bots for so many workers are there, which the row says, too.
"""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import psycopg
from sqlalchemy.engine import make_url

from benchmarks.bots.measurement import Measurement
from benchmarks.bots.running import lean_bots
from benchmarks.conversations.running import running_suite
from spotthebot.conversations.settings import ConversationsSettings
from tests.factories.grown_tables import PARTNERS, TARGETS, grow
from tests.factories.processes import prepared_installation

PER_PAIR, EXCHANGES = 600, 5
CONVERSATIONS = TARGETS * PARTNERS * PER_PAIR
TURNS = CONVERSATIONS * 2 * EXCHANGES
SAMPLE_TURNS, LOADED_TURNS = 100_000, 2_000_000
WORKERS = (1, 4, 16)
_MAX_OFF = 0.1
_REPLY_SECONDS = 0.5
_LONGEST_PLANNING_SECONDS = 600
_WARM_UP_SECONDS, _WINDOW_SECONDS = 8, 30
TOY = {"PER_PAIR": 2, "SAMPLE_TURNS": 10_000, "LOADED_TURNS": 20_000, "_WARM_UP_SECONDS": 1, "_WINDOW_SECONDS": 1}
_HELD_AT_ONCE = int(ConversationsSettings.model_fields["conversations_per_batch"].default)
_SIZES = """
    SELECT relname, CASE relkind WHEN 'i' THEN pg_relation_size(oid) ELSE pg_table_size(oid) END
    FROM pg_class WHERE relnamespace = 'conversations'::regnamespace AND relkind IN ('r', 'i')
"""


@dataclass(frozen=True)
class _Grown:
    turns: int
    sizes: Mapping[str, int]
    """Bytes by table and index, of those that grow with the turns."""

    @property
    def total(self) -> int:
        return sum(self.sizes.values())

    def scaled(self, turns: int) -> "_Grown":
        return _Grown(turns, {name: round(size * turns / self.turns) for name, size in self.sizes.items()})

    def listed(self) -> str:
        """Say what takes more than a hundredth of all."""
        largest = sorted(self.sizes.items(), key=lambda pair: -pair[1])
        return ", ".join(f"{name} {size / 2**20:,.0f}" for name, size in largest if size > self.total / 100)


@dataclass(frozen=True)
class _Pace:
    planning_seconds: float
    turns_per_second: float
    cpu_ms: Mapping[str, float]
    """Processor time a turn, by kind of process."""


def measure() -> list[Measurement]:
    """Measure bytes, planning and pace, and compute what follows from them."""
    sample, loaded = _grow(SAMPLE_TURNS), _grow(LOADED_TURNS)
    pace = asyncio.run(_collect())
    work = f"{TARGETS} x {PARTNERS} x {PER_PAIR} dialogues of {EXCHANGES} exchanges"
    needed, predicted = sample.scaled(TURNS), sample.scaled(loaded.turns)
    off = predicted.total / loaded.total - 1
    return [
        Measurement(
            work=f"{work}: rows and bytes",
            ours=(
                f"{CONVERSATIONS:,} conversations, {TURNS:,} turns, {needed.total / 2**20:,.0f} MiB: {needed.listed()}"
            ),
            compared=(
                f"{loaded.turns:,} turns loaded: {loaded.total / 2**20:,.0f} MiB, "
                f"{predicted.total / 2**20:,.0f} MiB by the sample of {sample.turns:,}"
            ),
            result=f"{off:+.1%}, {needed.total / TURNS:.0f} bytes a turn",
            goal=f"within {_MAX_OFF:.0%}",
            reached=abs(off) <= _MAX_OFF,
        ),
        Measurement(
            work=f"{work}: planning",
            ours=f"{pace.planning_seconds:.1f} s",
            compared="-",
            result=f"{CONVERSATIONS / pace.planning_seconds:,.0f} conversations/s, in one transaction",
        ),
        *(_time(work, workers, pace) for workers in WORKERS),
    ]


def _time(work: str, workers: int, pace: _Pace) -> Measurement:
    """Say how long it takes, and what that needs: nothing is gained by workers that wait for processors or bots."""
    at_once = workers * _HELD_AT_ONCE
    quick, slow = workers * pace.turns_per_second, min(workers * pace.turns_per_second, at_once / _REPLY_SECONDS)
    cores = quick * sum(pace.cpu_ms.values()) / 1000
    servers = math.ceil(quick * pace.cpu_ms.get("bots", 0.0) / 1000)
    each = math.ceil(at_once / (TARGETS + PARTNERS))
    return Measurement(
        work=f"{work}: {workers} worker{'s' if workers > 1 else ''}",
        ours=f"{_duration(TURNS / quick)} with bots that answer at once, {_duration(TURNS / slow)} with bots of 500 ms",
        compared=f"measured: {pace.turns_per_second:,.0f} turns/s with one worker and {TARGETS + PARTNERS} bots",
        result=f"needs {cores:.1f} cores, {servers} process(es) of `bots`, bots that bear {each} questions at once",
    )


def _duration(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"


def _grow(turns: int) -> _Grown:
    with prepared_installation() as installation:
        app = make_url(installation.urls.app_urls["conversations"])
        admin = (
            make_url(installation.cluster.admin_url).set(database=app.database).render_as_string(hide_password=False)
        )
        with psycopg.connect(admin) as connection:
            before: dict[str, int] = dict(connection.execute(_SIZES).fetchall())
        grown = grow(admin, turns)
        with psycopg.connect(admin) as connection:
            after: dict[str, int] = dict(connection.execute(_SIZES).fetchall())
    # Pairs do not grow with turns, and are few.
    sizes = {name: size - before.get(name, 0) for name, size in after.items() if "pairs" not in name}
    return _Grown(grown.turns, {name: size for name, size in sizes.items() if size > 0})


async def _collect() -> _Pace:
    with lean_bots() as (url,), prepared_installation() as installation:
        async with running_suite(installation) as suite:
            bots = await suite.bots(url, TARGETS + PARTNERS)
            plan = {
                "mode": "bipartite",
                "name": "published-size",
                "domain": "everyday",
                "bots": bots[:TARGETS],
                "partners": bots[TARGETS:],
                "exchanges": EXCHANGES,
                "conversations_per_pair": PER_PAIR,
            }
            client = await suite.processes.client("conversations")
            began = time.monotonic()
            answer = await client.post("/v1/collections", json=plan, timeout=_LONGEST_PLANNING_SECONDS)
            planning_seconds = time.monotonic() - began
            at = f"/v1/collections/{answer.raise_for_status().json()['id']}"
            await asyncio.sleep(_WARM_UP_SECONDS)
            used, began = suite.read_cpu_seconds(), time.monotonic()
            turns = -(await client.get(at)).raise_for_status().json()["turns"]
            await asyncio.sleep(_WINDOW_SECONDS)
            turns += (await client.get(at)).raise_for_status().json()["turns"]
            seconds = time.monotonic() - began
            spent: dict[str, float] = defaultdict(float)
            for name, total in suite.read_cpu_seconds().items():
                spent[name] = (total - used.get(name, 0.0)) * 1000 / turns
            await client.post(f"{at}/cancel")
    return _Pace(planning_seconds, turns / seconds, spent)
