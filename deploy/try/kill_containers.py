"""Kills every container of a deployment once in the middle of a collection, and of a campaign, and counts what is left.

Then it destroys the database while annotators label, brings it back from the archive of its changes, and once more to
the moment before all labels were deleted; and fills the archive's disk, which the variable ARCHIVE names.

Run by `try.sh`, from a clone, against the containers that `engine.sh compose` started. Nothing may be lost, doubled or
asked twice differently: the bots' replies prove what they were asked (`tests/factories/chained_bot.py`). Prints a row
of `deploy/try/README.md` for each part; exits with 1 where a count is wrong.
"""

import asyncio
import contextlib
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
from spotthebot.clients.annotation.client import AsyncAnnotation
from spotthebot.clients.bots import AsyncBots
from spotthebot.clients.conversations.client import AsyncConversations
from spotthebot.contracts.annotation.annotations import AnnotationOut
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.contracts.conversations.collections import AllPlayAllIn
from spotthebot.local.background import poll_until, wait_until_built
from spotthebot.local.progress import showing_progress
from spotthebot.local.seeding import simulated_annotators
from spotthebot.simulation import work
from tests.factories.chained_bot import ChainedBots, faults

ENGINE = str(Path(__file__).with_name("engine.sh"))
ADDRESS = "https://localhost"
CONVERSATIONS, EXCHANGES, BOTS = 150, 5, 3
TURNS = CONVERSATIONS * 2 * EXCHANGES
ANNOTATORS, PACKAGE, LABELS_OF_EACH = 24, 10, 6
LONGEST_SECONDS = 900
STANDSTILL_SECONDS = 10
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
    report("collection", said_of(killed), time.monotonic() - began, counts)
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


async def begin_campaign(annotation: AsyncAnnotation, name: str, collection: UUID) -> CampaignOut:
    """Make a campaign over the collection, with its packages."""
    request = CampaignIn(
        name=name,
        domain="everyday",
        collections=(collection,),
        segments=(2, 3, 5),
        annotations_per_segment=LABELS_OF_EACH,
        package_size=PACKAGE,
        seed=5,
    )
    return await wait_until_built(annotation, await annotation.create_campaign(request))


async def work_on(tasks: AsyncAnnotation, campaign: CampaignOut) -> int:
    """Have simulated annotators label all of it; return how many of their labels were acknowledged."""
    with showing_progress() as steps, steps.step("Annotators at work", total=campaign.annotations_needed) as step:
        people = simulated_annotators(ANNOTATORS, seed=5)
        return (await work.annotate(tasks, campaign, people, step.advance)).annotations


async def labels_of(annotation: AsyncAnnotation, campaign: CampaignOut) -> list[AnnotationOut]:
    """Return the labels that are kept."""
    return [each async for each in annotation.list_annotations(campaign.id)]


def counts_of(labels: Sequence[AnnotationOut], acknowledged: int, campaign: CampaignOut) -> dict[str, tuple[int, int]]:
    """Count what was acknowledged, and what is kept, beside what it should be."""
    places = Counter((each.annotator, each.conversation_id, each.exchanges) for each in labels)
    return {
        "labels acknowledged": (acknowledged, campaign.annotations_needed),
        "labels kept": (len(labels), campaign.annotations_needed),
        "labels kept twice": (sum(number - 1 for number in places.values()), 0),
    }


async def annotate(annotation: AsyncAnnotation, tasks: AsyncAnnotation, collection: UUID) -> None:
    """Have simulated annotators label the collection while every container dies once; count the labels."""
    campaign = await begin_campaign(annotation, "killed", collection)
    began, is_over = time.monotonic(), asyncio.Event()
    killing = asyncio.create_task(kill_each(running(), "campaign", is_over))
    acknowledged = await work_on(tasks, campaign)
    is_over.set()
    killed = await killing
    found = await annotation.get_campaign(campaign.id)
    counts = {
        "containers killed": (killed.total(), len(running())),
        **counts_of(await labels_of(annotation, campaign), acknowledged, campaign),
        "campaign counts": (found.annotations, campaign.annotations_needed),
    }
    report("campaign", said_of(killed), time.monotonic() - began, counts)


async def begin_work(
    annotation: AsyncAnnotation, tasks: AsyncAnnotation, name: str, collection: UUID
) -> tuple[CampaignOut, asyncio.Task[int]]:
    """Begin a campaign; return it, and the work of its annotators, when a third of its labels are there."""
    campaign = await begin_campaign(annotation, name, collection)
    working = asyncio.create_task(work_on(tasks, campaign))
    await poll_until(
        lambda: annotation.get_campaign(campaign.id),
        lambda found: found.annotations >= campaign.annotations_needed // 3,
        "Annotating",
    )
    return campaign, working


async def lose_the_database(annotation: AsyncAnnotation, tasks: AsyncAnnotation, collection: UUID) -> None:
    """Destroy the database's volume under annotators at work and bring it back; then bring deleted labels back."""
    began = time.monotonic()
    campaign, working = await begin_work(annotation, tasks, "lost", collection)
    before = {each.id for each in await labels_of(annotation, campaign)}
    away = await asyncio.to_thread(destroy_and_restore)
    acknowledged = await working
    labels = await labels_of(annotation, campaign)
    after = {each.id for each in labels}
    counts = counts_of(labels, acknowledged, campaign) | {"labels of before": (len(before & after), len(before))}
    report("database lost", f"restored in {away:.0f} s", time.monotonic() - began, counts)

    await asyncio.to_thread(await_base_backup)
    (moment, *_) = sql("SELECT clock_timestamp()")
    sql("DELETE FROM annotation.annotations")
    counts = {"labels after they were deleted": (len(await labels_of(annotation, campaign)), 0)}
    began = time.monotonic()
    away = await asyncio.to_thread(destroy_and_restore, moment)
    back = {each.id for each in await labels_of(annotation, campaign)}
    counts["labels of before"] = (len(after & back), len(after))
    report("labels deleted", f"restored in {away:.0f} s", time.monotonic() - began, counts)


async def fill_the_archive(annotation: AsyncAnnotation, tasks: AsyncAnnotation, collection: UUID) -> None:
    """Fill the archive's disk under annotators at work: nothing is acknowledged before there is room again."""
    began = time.monotonic()
    campaign, working = await begin_work(annotation, tasks, "full", collection)
    filler = Path(os.environ["ARCHIVE"], "filler")
    await asyncio.to_thread(fill, filler)
    sql("SELECT pg_switch_wal()")  # the next change needs a new file
    await asyncio.to_thread(await_receivers, 0)
    stood = [sql("SELECT count(*) FROM annotation.annotations")]
    await asyncio.sleep(STANDSTILL_SECONDS)
    stood += [sql("SELECT count(*) FROM annotation.annotations")]
    counts = {
        "labels while it was full": (int(stood[1][0]) - int(stood[0][0]), 0),
        "works that wait": (int(not working.done()), 1),
    }
    await asyncio.to_thread(filler.unlink)
    room = time.monotonic()
    await asyncio.to_thread(await_receivers, 1)
    away = time.monotonic() - room
    acknowledged = await working
    counts |= counts_of(await labels_of(annotation, campaign), acknowledged, campaign)
    report("archive full", f"went on {away:.0f} s after there was room", time.monotonic() - began, counts)


def fill(filler: Path) -> None:
    """Write a file until its disk is full."""
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1024 * 1024))


def await_receivers(number: int) -> None:
    """Wait until so many programs receive the database's changes; exit with 1 where they do not."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") != [str(number)]:
        if time.monotonic() > deadline:
            sys.exit(f"{number} receivers were not there within {LONGEST_SECONDS} s.")
        time.sleep(0.5)


def sql(statement: str) -> list[str]:
    """Run a statement as the database's administrator; return its rows."""
    psql = ("exec", "try_postgres_1", "psql", "-U", "postgres", "-d", "spotthebot", "-qtAc")
    return docker(*psql, statement).splitlines()


def destroy_and_restore(*moment: str) -> float:
    """Remove the database with its volume and restore it, to a moment if one is given; return the seconds that took."""
    began = time.monotonic()
    docker("rm", "--force", "try_postgres_1")
    compose("stop", "wal-receiver", "base-backups")
    docker("volume", "rm", "try_postgres")
    compose("run", "--rm", "-T", "restore", *moment)
    compose("up", "--detach")
    return time.monotonic() - began


def compose(*arguments: str) -> None:
    """Run docker-compose; what it says is shown where it fails."""
    done = subprocess.run([ENGINE, "compose", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"docker-compose {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")


def await_base_backup() -> None:
    """Wait until there is the base backup that a restore asks for; exit with 1 where none comes."""
    made = "find /archive/base -maxdepth 1 -name '[0-9]*' -newer /archive/timelines | grep -q ."
    look = [ENGINE, "docker", "exec", "try_base-backups_1", "sh", "-c", made]
    deadline = time.monotonic() + LONGEST_SECONDS
    while subprocess.run(look, check=False).returncode != 0:
        if time.monotonic() > deadline:
            sys.exit(
                f"No base backup was made within {LONGEST_SECONDS} s: engine.sh compose logs base-backups says why."
            )
        time.sleep(1)


def said_of(killed: Counter[str]) -> str:
    """Return how many containers were killed, and which."""
    return f"{killed.total()}: {', '.join(sorted(name.removeprefix('try_').removesuffix('_1') for name in killed))}"


def report(what: str, done: str, seconds: float, counts: dict[str, tuple[int, int]]) -> None:
    """Print a row; exit with 1 where a number is not the one that it should be."""
    said = "; ".join(f"{name} {found} of {planned}" for name, (found, planned) in counts.items())
    print(f"| {what} | {done} | {seconds:.0f} s | {said} |", flush=True)
    if wrong := {name: each for name, each in counts.items() if each[0] != each[1]}:
        sys.exit(f"Wrong afterwards: {wrong}")


async def main() -> None:
    """Kill in the middle of both, then lose the database."""
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
        await lose_the_database(annotation, tasks, collection)
        await fill_the_archive(annotation, tasks, collection)


if __name__ == "__main__":
    asyncio.run(main())
