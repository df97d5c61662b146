"""Two hundred conversations at once with bots that take half a second: against the ideal, and against ParlAI.

In the ideal nothing takes time but the bots: all conversations go on at once, each turn in 500 ms.
"""

import asyncio

from benchmarks.bots.measurement import Measurement
from benchmarks.bots.running import lean_bots
from benchmarks.conversations.parlai_rival import self_chat
from benchmarks.conversations.running import Collected, running_suite
from spotthebot.local.environments import EnvironmentNotMade
from tests.factories.processes import prepared_installation

AT_ONCE, EXCHANGES, BOTS, DELAY_MS = 200, 10, 5, 500
_CHATS, _CHAT_EXCHANGES = 2, 15
TOY = {"AT_ONCE": 10, "EXCHANGES": 1, "DELAY_MS": 10, "_CHATS": 2, "_CHAT_EXCHANGES": 2}


def measure() -> list[Measurement]:
    """Measure ours with 200 conversations, and ParlAI's one after another, with the same bot."""
    with lean_bots() as (url,):
        slow = f"{url}/after/{DELAY_MS}"
        with prepared_installation() as installation:

            async def collect() -> Collected:
                async with running_suite(installation) as suite:
                    bots = await suite.bots(slow, BOTS)
                    await suite.collect(bots, conversations=20, exchanges=1)
                    await suite.settle()
                    return await suite.collect(bots, conversations=AT_ONCE, exchanges=EXCHANGES)

            ours = asyncio.run(collect())
        rival = _rival(slow, ours)
    ideal = 2 * EXCHANGES * DELAY_MS / 1000
    share = ideal / ours.seconds
    work = f"{AT_ONCE} conversations of {2 * EXCHANGES} turns at once, bots of {DELAY_MS} ms"
    found = f"{ours.seconds:.1f} s, {ours.turns_per_second:,.0f} turns/s; {ours.costs()}"
    return [
        Measurement(work, found, f"ideal: {ideal:.1f} s", f"{share:.0%} of the ideal", ">= 92 %", share >= 0.92),
        rival,
    ]


def _rival(url: str, ours: Collected) -> Measurement:
    work = f"turns a second with the bot of {DELAY_MS} ms, {AT_ONCE} conversations against one after another"
    mine = f"{ours.turns_per_second:,.0f} turns/s"
    try:
        rival = self_chat(url, chats=_CHATS, exchanges=_CHAT_EXCHANGES)
    except EnvironmentNotMade as error:
        return Measurement(work, mine, f"ParlAI: {error}", "-", ">= 150x")
    pace = rival.turns / rival.seconds
    ratio = ours.turns_per_second / pace
    compared = f"ParlAI `self_chat`: {pace:.2f} turns/s over {rival.turns} turns"
    return Measurement(work, mine, compared, f"{ratio:.0f}x", ">= 150x", ratio >= 150)
