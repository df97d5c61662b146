"""Processes of `annotation` or of the bare application on one database, and annotators who work on them."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import aiohttp
import psycopg
from psycopg.types.json import Jsonb

from benchmarks.bots.load import percentile
from benchmarks.bots.running import HOST, running_process
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.kit.processes.sockets import bind
from tests.factories.processes import Installation, running_processes

PROTOCOL = "spot_the_bot_at_once"
_ANSWER = {"entity": {"A": "human", "B": "bot"}, "fluency": "A", "sensibleness": "tie", "specificity": "B"}
_LONGEST_SECONDS = 120


@dataclass(frozen=True)
class Server:
    """What serves the task API, and a key for it."""

    url: str
    key: str


@dataclass
class Work:
    """What annotators did, and how long each request took, in seconds."""

    cycles: int = 0
    seconds: float = 0
    claims: list[float] = field(default_factory=list)
    saves: list[float] = field(default_factory=list)

    @property
    def cycles_per_second(self) -> float:
        return self.cycles / self.seconds

    def __str__(self) -> str:
        saves = f"save p50 {milliseconds(self.saves, 0.5):.1f}, p99 {milliseconds(self.saves, 0.99):.1f} ms"
        return f"{self.cycles_per_second:.1f} cycles/s, {saves}"


def milliseconds(times: list[float], share: float) -> float:
    """Return a percentile of times in seconds, in milliseconds."""
    return percentile(sorted(times), share) * 1000


def add_protocol(installation: Installation) -> None:
    """Store `spot_the_bot` with all questions in one step, so that an answer is one request."""
    document = built_in_protocols()["spot_the_bot", 1].model_dump(mode="json")
    questions = [question for step in document["steps"] for question in step["questions"]]
    document |= {"name": PROTOCOL, "steps": [{"id": "all", "title": "All", "questions": questions}]}
    with psycopg.connect(installation.urls.owner_urls["annotation"]) as connection:
        connection.execute(
            "INSERT INTO annotation.protocols (id, name, version, document) VALUES (gen_random_uuid(), %s, 1, %s)",
            [PROTOCOL, Jsonb(document)],
        )


@asynccontextmanager
async def annotation(installation: Installation, processes: int) -> AsyncIterator[Server]:
    """Serve the task API as it is installed, in so many processes."""
    async with running_processes(installation, counts={"annotation": processes}) as running:
        yield Server(running.urls["annotation"], await running.keys.make("annotation", team="benchmark"))


@asynccontextmanager
async def bare_application(installation: Installation, processes: int, key: str) -> AsyncIterator[Server]:
    """Serve the bare application in so many processes, on one socket, under a key that the service knows."""
    environment = {"DATABASE_URL": installation.urls.app_urls["annotation"]}
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(contextlib.closing(bind(HOST, 0)))
        arguments = ("benchmarks.annotation.bare_app", str(listening.fileno()))
        for _ in range(processes):
            stack.enter_context(running_process(arguments, [listening.fileno()], environment=environment))
        url = f"http://{HOST}:{listening.getsockname()[1]}"
        async with aiohttp.ClientSession() as session, session.get(f"{url}/readyz") as answer:
            answer.raise_for_status()
        yield Server(url, key)


async def work(server: Server, campaign_id: UUID, done: Work, *, annotators: int, seconds: float) -> None:
    """Let so many annotators claim, answer every item and submit, again and again for about so many seconds.

    Each package has an annotator of its own. What was done is added to `done`.
    """
    timeout = aiohttp.ClientTimeout(total=_LONGEST_SECONDS)
    connector = aiohttp.TCPConnector(limit=annotators)
    headers = {"Authorization": f"Bearer {server.key}"}
    async with aiohttp.ClientSession(server.url, connector=connector, timeout=timeout, headers=headers) as session:
        began = time.perf_counter()

        async def keep_working() -> None:
            while time.perf_counter() - began < seconds:
                await _one_cycle(session, campaign_id, done)

        await asyncio.gather(*(keep_working() for _ in range(annotators)))
        done.seconds += time.perf_counter() - began


async def claim(session: aiohttp.ClientSession, campaign_id: UUID, times: list[float]) -> dict[str, Any]:
    """Claim a package for an annotator whom nobody knows yet."""
    path = f"/v1/campaigns/{campaign_id}/assignments"
    return await _ask(session, "POST", path, {"annotator": uuid4().hex}, times)


async def _one_cycle(session: aiohttp.ClientSession, campaign_id: UUID, done: Work) -> None:
    assignment = await claim(session, campaign_id, done.claims)
    for item in assignment["items"]:
        path = f"/v1/assignments/{assignment['id']}/items/{item['position']}"
        await _ask(session, "PUT", path, {"answer": _ANSWER}, done.saves)
    await _ask(session, "POST", f"/v1/assignments/{assignment['id']}/submit", {}, [])
    done.cycles += 1


async def _ask(
    session: aiohttp.ClientSession, method: str, path: str, body: dict[str, Any], times: list[float]
) -> dict[str, Any]:
    began, status = time.perf_counter(), 429
    while status == 429:
        async with session.request(method, path, json=body) as answer:
            document: dict[str, Any] = await answer.json(content_type=None)
        status = answer.status
        if status == 429:  # 200 claims at once on a slow machine
            await asyncio.sleep(float(answer.headers["Retry-After"]))
    times.append(time.perf_counter() - began)
    if status not in {200, 201}:
        message = f"{path} answered {status}: {document}"
        raise RuntimeError(message)
    return document
