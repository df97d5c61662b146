"""A bot that fails, hangs, dies or stays unavailable delays no other, and the collection reports its failures."""

import asyncio
import random
from collections import Counter
from typing import Any

from tests.factories.chained_bot import Asked, ChainedBots, Mortal, chained_bots, faults
from tests.factories.collecting import conversations, failures, finished, register, start
from tests.factories.processes import Processes

EACH, EXCHANGES = 20, 3
UNAVAILABLE_SECONDS = 3
LONGEST_SECONDS = 60


class TestBadBots:
    async def test_the_collection_ends_and_reports_the_reason_of_every_failure(self, processes: Processes):
        rng, over, hanging = random.Random(11), asyncio.Event(), False

        def fails_thirty_percent(asked: Asked) -> int | None:
            in_conversation = asked.domain is not None  # probes that fail by chance can outlast the workers' patience
            return 500 if in_conversation and rng.random() < 0.3 else None

        async def hangs(asked: Asked) -> None:
            nonlocal hanging
            hanging = hanging or asked.domain is not None  # it passes its first probe
            if hanging:
                await over.wait()

        async with chained_bots(behave={"flaky": fails_thirty_percent, "hangs": hangs}) as (bots, url):
            returning, never = Mortal(ChainedBots(delay_seconds=0.05)), Mortal(ChainedBots(delay_seconds=0.05))
            await returning.live()
            await never.live()
            targets = {
                "flaky": f"{url}/flaky",
                "hangs": f"{url}/hangs",
                "returning": f"{returning.url}/returning",
                "never": f"{never.url}/never",
            }
            ids = {
                name: await register(processes, name, at, concurrency=8, timeout_seconds=1)
                for name, at in targets.items()
            }
            partner = await register(processes, "good", f"{url}/good", concurrency=64)
            collection = await start(
                processes,
                mode="bipartite",
                bots=list(ids.values()),
                partners=[partner],
                exchanges=EXCHANGES,
                conversations_per_pair=EACH,
            )
            dying = asyncio.create_task(_die_and_return(returning))
            await _answered(never, 5)
            await never.die()
            await dying
            found = await finished(processes, collection, seconds=LONGEST_SECONDS)
            listed = await conversations(processes, collection)
            reported = await failures(processes, collection)
            await returning.die()
            over.set()
        ended = Counter((_target(each), each["state"]) for each in listed)
        print(found, ended, reported)
        assert found["complete"] + found["failed"] == len(listed) == 4 * EACH
        assert ended["returning", "complete"] == ended["flaky", "complete"] == EACH
        assert ended["hangs", "failed"] == EACH
        assert ended["never", "failed"] > 0
        assert [
            broken for each in listed if each["state"] == "complete" for broken in faults(each, 2 * EXCHANGES)
        ] == []
        assert {each["state"] for each in reported} == {"failed"}
        assert sum(each["conversations"] for each in reported) == found["failed"]
        assert {each["bot"].split("-")[0] for each in reported} == {"hangs", "never"}
        assert all(each["failure"] for each in listed if each["state"] == "failed")
        assert any("No reply within 1 s" in each["reason"] for each in reported)
        assert [turn for turn, keys in bots.keys.items() if len(keys) > 1] == []


class TestConcurrency:
    async def test_two_workers_and_two_servers_keep_within_a_bots_concurrency(self, processes: Processes):
        async with chained_bots(delay_seconds=0.05) as (bots, url):
            only = await register(processes, "three", f"{url}/three", concurrency=3)
            collection = await start(processes, mode="self_play", bots=[only], exchanges=3, conversations_per_pair=40)
            found = await finished(processes, collection, seconds=LONGEST_SECONDS)
        assert found["complete"] == 40
        assert bots.max_at_once["three"] == 3


async def _die_and_return(server: Mortal) -> None:
    await _answered(server, 20)
    await server.die()
    await asyncio.sleep(UNAVAILABLE_SECONDS)
    await server.live()


async def _answered(server: Mortal, times: int) -> None:
    while sum(each.domain is not None for each in server.bots.asked) < times:
        await asyncio.sleep(0.01)


def _target(conversation: dict[str, Any]) -> str:
    names = [side["name"].split("-")[0] for side in conversation["participants"]]
    return next(name for name in names if name != "good")
