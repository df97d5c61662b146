"""Memory of the service with a thousand registered bots, each at a port of its own, against one."""

import time

import httpx

from benchmarks.bots.measurement import Measurement
from benchmarks.bots.running import RunningBots, lean_bots, running_bots
from spotthebot.kit.service.process import allow_many_files

BOTS = 1000
_WARM_UP_QUESTIONS = 200
_PROBE_SECONDS = 300
TOY = {"BOTS": 5, "_WARM_UP_QUESTIONS": 2}


def measure() -> list[Measurement]:
    """Register, let each be probed, ask each once; before that, one bot is asked until all is loaded that is used."""
    allow_many_files()
    with lean_bots(BOTS + 1) as (first, *urls), running_bots() as bots, bots.client() as client:
        bot_id = bots.register(client, "first", first)
        for _ in range(_WARM_UP_QUESTIONS):
            _ask(client, bot_id)
        before = bots.process.memory_info().rss
        made = [bots.register(client, f"bot-{at}", url, probe=False) for at, url in enumerate(urls)]
        _wait_for_probes(bots, client)
        for bot_id in made:
            _ask(client, bot_id)
        after = bots.process.memory_info().rss
    return [
        Measurement(
            work=f"{BOTS:,} registered webhook bots, each probed and asked once",
            ours=f"{after / 2**20:.0f} MiB",
            compared=f"one bot: {before / 2**20:.0f} MiB",
            result=f"{(after - before) / BOTS / 2**10:+.1f} KiB a bot",
        )
    ]


def _ask(client: httpx.Client, bot_id: str) -> None:
    asked = {"contexts": [{"turns": ["Hello! How are you today?"]}]}
    answer = client.post(f"/v1/bots/{bot_id}/replies", json=asked).raise_for_status().json()
    if answer["replies"][0]["failure"] is not None:
        message = f"a bot did not answer: {answer}"
        raise RuntimeError(message)


def _wait_for_probes(bots: RunningBots, client: httpx.Client) -> None:
    ends = time.monotonic() + _PROBE_SECONDS
    while time.monotonic() < ends:
        if _count_probing(client) == 0:
            return
        time.sleep(1)
    message = f"the bots of {bots.url} were not all probed within {_PROBE_SECONDS} s"
    raise RuntimeError(message)


def _count_probing(client: httpx.Client) -> int:
    probing = 0
    cursor: str | None = ""
    while cursor is not None:
        page = client.get("/v1/bots", params={"limit": 1000, **({"cursor": cursor} if cursor else {})}).json()
        probing += [bot["status"] for bot in page["items"]].count("probing")
        cursor = page["next_cursor"]
    return probing
