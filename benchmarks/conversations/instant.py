"""Committed turns a second with a bot that answers at once: what the suite itself costs."""

import asyncio

from benchmarks.bots.measurement import Measurement
from benchmarks.bots.running import lean_bots
from benchmarks.conversations.parlai_rival import self_chat
from benchmarks.conversations.running import Collected, running_suite
from spotthebot.local.environments import EnvironmentNotMade
from tests.factories.processes import prepared_installation

CONVERSATIONS, EXCHANGES, BOTS = 3000, 5, 4
_WARM_UP, _CHATS = 120, 200
TOY = {"CONVERSATIONS": 12, "EXCHANGES": 2, "_WARM_UP": 6, "_CHATS": 2}


def measure() -> list[Measurement]:
    """Measure ours, with every turn committed, and ParlAI's, which keeps them in memory."""
    with lean_bots() as (url,):
        with prepared_installation() as installation:

            async def collect() -> Collected:
                async with running_suite(installation) as suite:
                    bots = await suite.bots(url, BOTS)
                    await suite.collect(bots, conversations=_WARM_UP, exchanges=EXCHANGES)
                    await suite.settle()
                    return await suite.collect(bots, conversations=CONVERSATIONS, exchanges=EXCHANGES)

            ours = asyncio.run(collect())
        try:
            rival = self_chat(url, chats=_CHATS, exchanges=EXCHANGES)
        except EnvironmentNotMade as error:
            compared, result = f"ParlAI: {error}", "-"
        else:
            compared = f"ParlAI `self_chat`: {rival.turns / rival.seconds:,.0f} turns/s in memory"
            result = f"{ours.turns_per_second / (rival.turns / rival.seconds):.1f}x"
    return [
        Measurement(
            work=f"{ours.conversations:,} conversations of {2 * EXCHANGES} turns, {BOTS} bots that answer at once",
            ours=f"{ours.turns_per_second:,.0f} committed turns/s; {ours.costs()}",
            compared=compared,
            result=result,
            goal=">= 1,000 committed turns/s",
            reached=ours.turns_per_second >= 1000,
        )
    ]
