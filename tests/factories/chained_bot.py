"""A webhook bot whose replies prove what it was asked, and that says a different thing each time it is asked.

A reply names its conversation and its position, and holds a hash of all turns before it: a turn that was lost, doubled,
swapped or put into another conversation breaks the chain. It also holds a number that no other reply has. So, if two
askers of one conversation ever went on from different replies to the same question, the next question would have two
contexts, and therefore two idempotency keys.
"""

import asyncio
import contextlib
import hashlib
import itertools
import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from spotthebot.kit.processes.sockets import bind
from tests.factories.running_suite import serve_all

_FORM = re.compile(r"Turn (\d+) of ([0-9a-f-]{36}) after ([0-9a-f]{16}), said as number (\d+)\.")
Behave = Callable[["Asked"], Any]
"""Called before a reply: may wait, and returns None to answer, or a status to fail with."""


@dataclass(frozen=True)
class Asked:
    """A question that came."""

    bot: str
    """The path it was sent to, which tells several bots on one server apart."""
    conversation_id: str
    turn: int
    key: str
    domain: str | None
    """A probe has none."""
    number: int
    """How many questions came before it, to any bot here."""


@dataclass
class ChainedBots:
    """A lean ASGI application: any number of bots by path, and what each was asked."""

    behave: Mapping[str, Behave] = field(default_factory=dict)
    delay_seconds: float = 0.0
    asked: list[Asked] = field(default_factory=list)
    answered: int = 0
    at_once: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    max_at_once: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    keys: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    """Idempotency keys by conversation and position; those of probes are left out."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        bot = scope["path"].strip("/")
        question = json.loads(await _whole(receive))
        counts = question["domain"] is not None  # a probe comes on top of what is asked for a collection
        self.at_once[bot] += counts
        self.max_at_once[bot] = max(self.max_at_once[bot], self.at_once[bot])
        try:
            status, body = await self._answer(bot, dict(scope["headers"]), question)
        finally:
            self.at_once[bot] -= counts
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    async def _answer(
        self, bot: str, headers: Mapping[bytes, bytes], question: Mapping[str, Any]
    ) -> tuple[int, dict[str, str]]:
        asked = Asked(
            bot=bot,
            conversation_id=question["conversation_id"],
            turn=question["turn"],
            key=headers[b"idempotency-key"].decode(),
            domain=question["domain"],
            number=len(self.asked),
        )
        self.asked.append(asked)
        if asked.domain is not None:
            self.keys[asked.conversation_id, asked.turn].add(asked.key)
        if self.delay_seconds:
            await asyncio.sleep(self.delay_seconds)
        if bot in self.behave:
            status = self.behave[bot](asked)
            status = await status if asyncio.iscoroutine(status) else status
            if status is not None:
                return status, {"error": "This bot fails on purpose."}
        self.answered += 1
        said = [turn["text"] for turn in question["turns"]]
        return 200, {"text": reply(asked.conversation_id, said, asked.number)}


def reply(conversation_id: str, said: Sequence[str], number: int) -> str:
    """Return what is said after these turns."""
    return f"Turn {len(said)} of {conversation_id} after {_digest(said)}, said as number {number}."


def faults(conversation: Mapping[str, Any], turns_planned: int) -> list[str]:
    """Return what is wrong with a conversation as the API gives it, `ConversationOut`; nothing, it is to be hoped."""
    opening = [turn["text"] for turn in conversation["opening"]]
    texts = [*opening, *(turn["text"] for turn in conversation["turns"])]
    found = []
    if len(conversation["turns"]) != turns_planned:
        found.append(f"{len(conversation['turns'])} turns instead of {turns_planned}")
    speakers = [turn["speaker"] for turn in conversation["turns"]]
    if any(before == after for before, after in itertools.pairwise(speakers)):
        found.append(f"speakers do not alternate: {speakers}")
    for position in range(len(opening), len(texts)):
        match = _FORM.fullmatch(texts[position])
        if match is None:
            found.append(f"position {position} holds {texts[position]!r}")
            continue
        expected = (str(position), conversation["id"], _digest(texts[:position]))
        if match.groups()[:3] != expected:
            found.append(f"position {position} says {match.groups()[:3]} instead of {expected}")
    return found


class Mortal:
    """A server of such bots whose port refuses everybody between `die` and `live`."""

    def __init__(self, bots: ChainedBots) -> None:
        self.bots = bots
        self._serving = contextlib.AsyncExitStack()
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def live(self) -> None:
        sock = self._serving.enter_context(bind("127.0.0.1", self._port))
        self._port = sock.getsockname()[1]
        config = uvicorn.Config(self.bots, log_config=None, lifespan="off", http="httptools", access_log=False)
        config.timeout_graceful_shutdown = 1
        await self._serving.enter_async_context(serve_all([(config, sock)]))

    async def die(self) -> None:
        await self._serving.aclose()


@asynccontextmanager
async def chained_bots(**more: Any) -> AsyncIterator[tuple[ChainedBots, str]]:
    """Serve such bots; gives them and their base URL."""
    bots = ChainedBots(**more)
    server = Mortal(bots)
    await server.live()
    try:
        yield bots, server.url
    finally:
        await server.die()


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()[:16]


async def _whole(receive: Any) -> bytes:
    body = b""
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body
