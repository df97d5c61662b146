"""Kills every container of a deployment once in the middle of a collection, and of a campaign, and counts what is left.

Run by `try.sh`, from a clone, against the containers that `engine.sh compose` started. Nothing may be lost, doubled or
asked twice differently: the bots' replies prove what they were asked (`tests/factories/chained_bot.py`). Prints a row
of `deploy/try/README.md` for each part; exits with 1 where a count is wrong.
"""

import asyncio
import ipaddress
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import uvicorn

from spotthebot.clients import Retries
from spotthebot.clients.annotation import AsyncAnnotation
from spotthebot.clients.bots import AsyncBots
from spotthebot.clients.conversations import AsyncConversations
from spotthebot.contracts.annotation import CampaignIn
from spotthebot.contracts.bots import BotIn
from spotthebot.contracts.conversations import AllPlayAllIn
from spotthebot.suite import campaigns
from spotthebot.suite.progress import showing_progress
from tests.factories.chained_bot import ChainedBots, faults

ENGINE = str(Path(__file__).with_name("engine.sh"))
ADDRESS = "https://localhost"
CONVERSATIONS, EXCHANGES, BOTS = 150, 5, 3
TURNS = CONVERSATIONS * 2 * EXCHANGES
ANNOTATORS, PACKAGE, LABELS_OF_EACH = 24, 10, 6
LONGEST_SECONDS = 900
BETWEEN_KILLS_SECONDS = {"collection": 5.0, "campaign": 1.2}
PATIENT = Retries(attempts=60, max_seconds=240.0)


def docker(*arguments: str) -> str:
    """Return what the client of the try's engine says."""
    return subprocess.run([ENGINE, "docker", *arguments], capture_output=True, text=True, check=True).stdout.strip()


def running() -> list[str]:
    """Return the names of the containers that run for good, in a random order."""
    names = docker("ps", "--filter", "label=com.docker.compose.project=try", "--format", "{{.Names}}").split()
    random.shuffle(names)
    return names


def kill(name: str) -> None:
    """End a container's first process, as a crash does; `docker kill` would keep it from being started again."""
    os.kill(int(docker("inspect", "--format", "{{.State.Pid}}", name)), signal.SIGKILL)


async def kill_each(names: Sequence[str], what: str, is_over: asyncio.Event) -> Counter[str]:
    """Kill each container once; one that is still to die when all is over was killed too late, and is not counted."""
    killed: Counter[str] = Counter()
    for name in names:
        await asyncio.sleep(BETWEEN_KILLS_SECONDS[what] * random.uniform(0.5, 1.5))
        if is_over.is_set():
            break
        kill(name)
        killed[name] += 1
        print(f"  {time.strftime('%H:%M:%S')} killed {name}", file=sys.stderr, flush=True)
    return killed


@asynccontextmanager
async def serving(bots: ChainedBots) -> AsyncIterator[str]:
    """Serve bots on this machine's side of the containers' network; gives their URL."""
    network = json.loads(docker("network", "inspect", "try_services"))[0]["IPAM"]["Config"][0]
    gateway = network.get("Gateway") or str(next(ipaddress.ip_network(network["Subnet"]).hosts()))
    with socket.create_server((gateway, 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(bots, lifespan="off", log_config=None, access_log=False))
        serving_them = asyncio.create_task(server.serve(sockets=[listener]))
        yield f"http://{gateway}:{listener.getsockname()[1]}"
        server.should_exit = True
        await serving_them


async def collect(conversations: AsyncConversations, registry: AsyncBots) -> UUID:
    """Run a collection while every container dies once; check every turn."""
    bots = ChainedBots(delay_seconds=1.0)
    async with serving(bots) as url:
        ids = [await register(registry, f"chained-{number}", f"{url}/{number}") for number in range(BOTS)]
        began, is_over = time.monotonic(), asyncio.Event()
        request = AllPlayAllIn(
            mode="all_play_all",
            name="killed",
            domain="everyday",
            bots=tuple(ids),
            exchanges=EXCHANGES,
            conversations_per_pair=CONVERSATIONS // (BOTS * (BOTS - 1) // 2),
            seed=5,
        )
        collection = await conversations.create_collection(request)
        killing = asyncio.create_task(kill_each(running(), "collection", is_over))
        while (found := await conversations.get_collection(collection.id)).state.value != "complete":
            if time.monotonic() - began > LONGEST_SECONDS:
                sys.exit(f"The collection did not end in {LONGEST_SECONDS} s: {found}")
            await asyncio.sleep(1)
        is_over.set()
        killed = await killing
        listed = [each async for each in conversations.list_conversations(collection.id)]
    broken = {each.id: said for each in listed if (said := faults(each.model_dump(mode="json"), 2 * EXCHANGES))}
    ours = {str(each.id) for each in listed}
    twice = [turn for turn, keys in bots.keys.items() if turn[0] in ours and len(keys) > 1]
    counts = {
        "containers killed": (killed.total(), len(running())),
        "conversations complete": (found.complete, CONVERSATIONS),
        "turns": (found.turns, TURNS),
        "turns lost or doubled": (len(broken), 0),
        "turns asked for twice differently": (len(twice), 0),
    }
    report("collection", killed, time.monotonic() - began, counts)
    return collection.id


async def register(registry: AsyncBots, name: str, url: str) -> UUID:
    """Register a bot; return its id."""
    request = {
        "name": f"{name}-{random.randrange(10**6)}",
        "domains": ["everyday"],
        "protocol": {"kind": "webhook", "url": url},
        "limits": {"concurrency": 8, "timeout_seconds": 5},
    }
    return (await registry.register_bot(BotIn.model_validate(request))).id


async def annotate(annotation: AsyncAnnotation, tasks: AsyncAnnotation, collection: UUID) -> None:
    """Have simulated annotators label the collection while every container dies once; count the labels."""
    request = CampaignIn(
        name="killed",
        domain="everyday",
        collections=(collection,),
        segments=(2, 3, 5),
        annotations_per_segment=LABELS_OF_EACH,
        package_size=PACKAGE,
        seed=5,
    )
    campaign = await campaigns.build(annotation, await annotation.create_campaign(request))
    began, is_over = time.monotonic(), asyncio.Event()
    killing = asyncio.create_task(kill_each(running(), "campaign", is_over))
    with showing_progress() as steps, steps.step("Annotators at work", total=campaign.annotations_needed) as step:
        work = await campaigns.annotate(tasks, campaign, campaigns.simulated_annotators(ANNOTATORS, seed=5), step)
    is_over.set()
    killed = await killing
    found = await annotation.get_campaign(campaign.id)
    stored = [each async for each in annotation.list_annotations(campaign.id)]
    places = Counter((each.annotator, each.conversation_id, each.exchanges) for each in stored)
    counts = {
        "containers killed": (killed.total(), len(running())),
        "labels acknowledged": (work.annotations, campaign.annotations_needed),
        "labels kept": (len(stored), campaign.annotations_needed),
        "labels kept twice": (sum(number - 1 for number in places.values()), 0),
        "campaign counts": (found.annotations, campaign.annotations_needed),
    }
    report("campaign", killed, time.monotonic() - began, counts)


def report(what: str, killed: Counter[str], seconds: float, counts: dict[str, tuple[int, int]]) -> None:
    """Print a row; exit with 1 where a number is not the one that it should be."""
    names = ", ".join(sorted(name.removeprefix("try_").removesuffix("_1") for name in killed))
    said = "; ".join(f"{name} {found} of {planned}" for name, (found, planned) in counts.items())
    print(f"| {what} | {killed.total()}: {names} | {seconds:.0f} s | {said} |", flush=True)
    if wrong := {name: each for name, each in counts.items() if each[0] != each[1]}:
        sys.exit(f"Wrong after the kills: {wrong}")


async def main() -> None:
    """Kill in the middle of both."""
    key, frontend = os.environ["SPOTTHEBOT_KEY"], os.environ["SPOTTHEBOT_FRONTEND_KEY"]

    def of(service: str) -> dict[str, Any]:
        return {"base_url": f"{ADDRESS}/{service}", "retries": PATIENT}

    async with (
        AsyncBots(**of("bots"), key=key) as registry,
        AsyncConversations(**of("conversations"), key=key) as conversations,
        AsyncAnnotation(**of("annotation"), key=key) as annotation,
        AsyncAnnotation(**of("annotation"), key=frontend) as tasks,
    ):
        collection = await collect(conversations, registry)
        await annotate(annotation, tasks, collection)


if __name__ == "__main__":
    asyncio.run(main())
