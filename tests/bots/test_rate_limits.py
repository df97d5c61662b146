"""Rate limits of bots' servers: kept for the bot as a whole, by all that ask it, and never a failure of the bot."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from spotthebot.bots.bot_client import BotClient
from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.protocols.webhook import WebhookSpeaker
from spotthebot.bots.questions.domain.circuit import FAILURES_TO_OPEN
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.pauses import Pause
from spotthebot.contracts.bots.protocols import WebhookProtocol
from spotthebot.contracts.bots.registry import Limits
from spotthebot.contracts.bots.replies import ReplyFailure
from spotthebot.kit.outbound.addresses import networks
from spotthebot.kit.outbound.resolver import CheckingResolver
from tests.factories.bot_servers import Talk, raw_server, says, webhook, well_behaved
from tests.factories.bot_servers import bot as serve_bot
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

HELLO = Context(("Hello!",), 0)


class _Limited:
    """Refuses its first requests, with a header, and counts all."""

    def __init__(self, header: bytes, *, refusals: int = 10_000, status: bytes = b"429 Slow down") -> None:
        self.asked = 0
        self._refusals = refusals
        self._refuse: Talk = says(b'{"error": "rate limit"}', status=status, headers=header)
        self._answer: Talk = says(b'{"text": "Hi!"}')

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked += 1
        await (self._refuse if self.asked <= self._refusals else self._answer)(reader, writer)


@asynccontextmanager
async def _client(server: _Limited, seconds: float = 2.0) -> AsyncIterator[tuple[BotClient, list[float], list[str]]]:
    paused: list[float] = []
    opened: list[str] = []

    async def on_pause(wait: float) -> None:
        paused.append(wait)

    async def on_open(reason: str) -> None:
        opened.append(reason)

    async with raw_server(server) as url, BotHttp(CheckingResolver(networks(["127.0.0.0/8"]))) as http:
        speaker = WebhookSpeaker(WebhookProtocol(kind="webhook", url=url), None, http)
        client = BotClient("b/1", speaker, Limits(timeout_seconds=seconds, concurrency=4), on_open, on_pause=on_pause)
        yield client, paused, opened


@pytest.mark.usefixtures("no_services")
class TestRetryAfter:
    async def test_holds_for_every_conversation_of_the_bot(self):
        server = _Limited(b"Retry-After: 120\r\n")
        async with _client(server) as (client, paused, _):
            first = await client.reply(HELLO)
            others = await client.replies([HELLO] * 50)
        assert server.asked == 1
        assert (first.failure, first.attempts, paused) == (ReplyFailure.RATE_LIMITED, 1, [120.0])
        assert {(each.failure, each.attempts) for each in others} == {(ReplyFailure.RATE_LIMITED, 0)}
        assert all(115 < (each.retry_after_seconds or 0) <= 120 for each in others)

    @pytest.mark.parametrize("form", ["decimals", "date"])
    async def test_is_waited_for_within_the_time_out(self, form: str):
        at = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
        server = _Limited(b"Retry-After: " + (b"0.5" if form == "decimals" else at.encode()) + b"\r\n", refusals=1)
        async with _client(server, seconds=10) as (client, _, _):
            reply = await client.reply(HELLO)
        assert (reply.text, reply.attempts, server.asked) == ("Hi!", 2, 2)

    async def test_one_request_finds_out_whether_a_limit_still_holds(self):
        server = _Limited(b"Retry-After: 120\r\n")
        async with _client(server) as (client, _, _):
            client.pause.in_doubt = True
            replies = await client.replies([HELLO] * 20)
        assert server.asked == 1
        assert {each.failure for each in replies} == {ReplyFailure.RATE_LIMITED}

    @pytest.mark.parametrize(
        ("status", "failure"), [(b"503 Later", ReplyFailure.HTTP_ERROR), (b"200 OK", ReplyFailure.RATE_LIMITED)]
    )
    async def test_counts_for_other_refusals_and_for_errors_inside_an_answer(
        self, status: bytes, failure: ReplyFailure
    ):
        header = b"Content-Type: application/json\r\nRetry-After: 60\r\n"
        server = _Limited(header, status=status)
        async with _client(server) as (client, paused, _):
            first, second = await client.reply(HELLO), await client.reply(HELLO)
        assert (first.failure, second.failure, server.asked) == (failure, ReplyFailure.RATE_LIMITED, 1)
        assert paused == [60.0]

    async def test_never_opens_the_circuit(self):
        server = _Limited(b"")
        async with _client(server, seconds=0.2) as (client, _, opened):
            for _ in range(FAILURES_TO_OPEN + 1):
                client.pause = Pause()
                assert (await client.reply(HELLO)).failure is ReplyFailure.RATE_LIMITED
        assert (opened, client.circuit.is_open) == ([], False)


@pytest.mark.usefixtures("no_services")
class TestPause:
    def test_a_pause_that_no_server_names_doubles_up_to_a_minute_until_a_reply(self):
        pause, now, waits = Pause(), 100.0, []
        for _ in range(8):
            waits.append(pause.unnamed_seconds(now))
            pause.begin(now, waits[-1])
            now += waits[-1]
        assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
        pause.answered(is_reply=True)
        assert pause.unnamed_seconds(now) == 1

    def test_a_limit_met_by_requests_under_way_together_counts_once(self):
        pause = Pause()
        pause.begin(100.0, pause.unnamed_seconds(100.0))
        assert pause.unnamed_seconds(100.5) == 0.5
        assert pause.begin(100.5, 0.5) is False


class TestBots:
    async def test_a_bot_whose_server_limits_requests_is_neither_failing_nor_asked(self, suite: RunningSuite):
        server = _Limited(b"Retry-After: 120\r\n")
        started = time.monotonic()
        async with raw_server(server) as url:
            admin = await suite.client("bots", "admin")
            out = await created(admin, "/v1/bots", webhook(url))
            assert (out["status"], out["probe"]["passed"], out["probe"]["put_off"]) == ("probing", False, True)
            assert "limits requests" in out["status_reason"]
            until = datetime.fromisoformat(out["paused_until"]) - datetime.now(UTC)
            assert timedelta(seconds=60) < until <= timedelta(seconds=121)
            path = f"/v1/bots/{out['id']}"
            answer = await admin.post(f"{path}/replies", json={"contexts": [{"turns": ["a"]}] * 40})
            await asyncio.sleep(3)  # recovery would be a second away
            found = (await admin.get(path)).json()
        assert {each["failure"] for each in answer.json()["replies"]} == {"rate_limited"}
        assert all(60 < each["retry_after_seconds"] <= 121 for each in answer.json()["replies"])
        assert (found["status"], server.asked) == ("probing", 1), time.monotonic() - started

    async def test_a_bot_that_meets_a_limit_amid_its_probe_becomes_active(self, suite: RunningSuite):
        asked = 0

        def limits(question: dict[str, Any]) -> Any:
            nonlocal asked
            asked += 1
            return well_behaved(question) if asked <= 3 else {"error": {"code": 429}}

        async with serve_bot(limits) as (_, url):
            admin = await suite.client("bots", "admin")
            out = await created(admin, "/v1/bots", webhook(url, limits={"timeout_seconds": 5}))
        verdicts = {each["check"]: each["verdict"] for each in out["probe"]["findings"]}
        assert out["status"] == "active"
        assert verdicts["reachable"] == "passed"
        assert verdicts["answers_in_turn"] == "warned"
