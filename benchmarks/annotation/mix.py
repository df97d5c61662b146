"""A campaign over two collections of half a million conversations: what they are mixed of, and its packages.

`SPOTTHEBOT_BENCHMARK_CONVERSATIONS` is how many conversations there are in all. A tenth of the second collection are
conversations that the first one has as well, and a tenth of each is by people.
"""

import asyncio
import os
import re
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import psycopg
from sqlalchemy.engine import make_url

from benchmarks.bots.measurement import Measurement
from tests.factories.processes import Installation, Processes, prepared_installation, running_processes

CONVERSATIONS = int(os.environ.get("SPOTTHEBOT_BENCHMARK_CONVERSATIONS", "500000"))
TURNS, HUMAN_SHARE, LONGEST_MIX_SECONDS, MAX_MIB = 10, 0.05, 60, 2048
TOY = {"CONVERSATIONS": 400}
_COLLECTIONS = [UUID(int=0x01A1FDD200007000A000000000000001 + number) for number in range(2)]
_COLLECTION = """
    INSERT INTO conversations.collections (id, name, domain, mode, plan, state, conversations, complete, turns)
    VALUES (%(id)s, %(id)s::text, 'everyday', 'import', '{}', 'complete', %(each)s, %(each)s, %(each)s * %(turns)s)
"""
_PAIRS = """
    INSERT INTO conversations.pairs (collection_id, number, participants)
    SELECT %(id)s, pair, CASE WHEN pair = 0
        THEN '[{"kind": "human", "name": "HU"}, {"kind": "human", "name": "HU"}]'::jsonb
        ELSE jsonb_build_array(jsonb_build_object('kind', 'bot', 'name', 'target-' || pair %% 3),
            jsonb_build_object('kind', 'bot', 'name', 'partner-' || pair)) END
    FROM generate_series(0, 9) AS pair
"""
# The number of a conversation decides its words: the numbers of the second collection begin a tenth earlier.
_CONVERSATIONS = """
    INSERT INTO conversations.conversations (id, collection_id, pair, round, external_id, state, ended_by, opening,
        opening_shown, turns_planned, turns_said, seed)
    SELECT (%(prefix)s || lpad(to_hex(number), 12, '0'))::uuid, %(id)s, number %% 10, number / 10, number::text,
        'complete', 'exchanges', '{}', false, %(turns)s, %(turns)s, number
    FROM generate_series(%(first)s, %(first)s + %(each)s - 1) AS number
"""
_TURNS = """
    INSERT INTO conversations.turns (conversation_id, position, text)
    SELECT id, position, 'I went to the market and bought ' || seed || ' melons. Do you like melons, too?'
    FROM conversations.conversations, generate_series(0, %(turns)s - 1) AS position WHERE collection_id = %(id)s
"""


def measure() -> list[Measurement]:
    """Count the mix, then build a campaign of it, and read how much memory the processes ever held."""
    with prepared_installation() as installation:
        _fill(installation)
        return asyncio.run(_measure(installation))


def _fill(installation: Installation) -> None:
    each = CONVERSATIONS // 2
    url = make_url(installation.cluster.admin_url).set(database=make_url(installation.urls.owner_urls["bots"]).database)
    with psycopg.connect(url.render_as_string(hide_password=False), autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # loads without checks row by row
        for number, collection_id in enumerate(_COLLECTIONS):
            values = {"id": collection_id, "prefix": f"01a1fdd2-0000-7000-b{number:03x}-", "turns": TURNS}
            values |= {"each": each, "first": number * each * 9 // 10}
            for statement in (_COLLECTION, _PAIRS, _CONVERSATIONS, _TURNS):
                connection.execute(statement, values)
        connection.execute("VACUUM ANALYZE conversations.conversations, conversations.turns, conversations.pairs")


async def _measure(installation: Installation) -> list[Measurement]:
    counts = {"conversations": 1, "annotation": 1, "annotation-worker": 1}
    async with running_processes(installation, counts=counts) as running:
        headers = {"Authorization": f"Bearer {await running.keys.make('admin')}"}
        async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=3600)) as session:
            before = _mib(running, "conversations-1")
            began = time.perf_counter()
            mix = await _ask(session, "GET", f"{running.urls['conversations']}{_mix_path()}")
            mixed = time.perf_counter() - began
            after = _mib(running, "conversations-1")
            selected = f"{mix['long_enough']:,} selected"
            rows = [_row("the mix is counted", mixed, selected, before, after, LONGEST_MIX_SECONDS)]
            idle = _mib(running, "annotation-worker-1")
            body = {"name": "mix", "domain": "everyday", "segments": [5], "package_size": 200}
            body |= {"collections": [str(each) for each in _COLLECTIONS], "human_share": HUMAN_SHARE}
            began = time.perf_counter()
            campaigns = f"{running.urls['annotation']}/v1/campaigns"
            campaign = await _ask(session, "POST", campaigns, body)
            while campaign["state"] == "building":
                await asyncio.sleep(0.5)
                campaign = await _ask(session, "GET", f"{campaigns}/{campaign['id']}")
            built = time.perf_counter() - began
            worker = _mib(running, "annotation-worker-1")
        result = f"{campaign['state']}, {campaign['items']:,} items"
        return [*rows, _row("a campaign is created and built", built, result, idle, worker, None)]


def _mix_path() -> str:
    first, second = _COLLECTIONS
    return f"/v1/collections/{first}/mix?also={second}&exchanges=5&human_share={HUMAN_SHARE}"


def _row(work: str, seconds: float, result: str, before: float, after: float, limit: float | None) -> Measurement:
    goals = [f"<= {MAX_MIB} MiB", *([] if limit is None else [f"< {limit} s"])]
    return Measurement(
        f"{work}: {CONVERSATIONS:,} conversations of {TURNS} turns in two collections",
        f"{seconds:.1f} s, {after:.0f} MiB at most",
        f"before: {before:.0f} MiB",
        result,
        ", ".join(goals),
        after <= MAX_MIB and (limit is None or seconds < limit),
    )


def _mib(running: Processes, name: str) -> float:
    """Return how much memory a process held at most so far."""
    status = Path(f"/proc/{running.pid(name)}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


async def _ask(
    session: aiohttp.ClientSession, method: str, url: str, body: dict[str, Any] | None = None
) -> dict[str, Any]:
    async with session.request(method, url, json=body) as answer:
        document: dict[str, Any] = await answer.json(content_type=None)
    if answer.status not in {200, 201}:
        message = f"{url} answered {answer.status}: {document}"
        raise RuntimeError(message)
    return document
