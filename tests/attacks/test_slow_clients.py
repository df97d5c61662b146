"""Clients that send slowly, read slowly, or open connections and leave them: they hold little, and only for a while."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.attacks.wire import bearable, half_open, head, is_closed, latency, opened, status_of
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import RunningSuite, run_suite

LIMITS = {
    "head_timeout_seconds": 1.5,
    "body_timeout_seconds": 1.5,
    "max_connections_per_address": 40,
    "failed_keys_per_minute": 20,
}


@pytest.fixture
async def limited(database_urls: DatabaseUrls) -> AsyncIterator[RunningSuite]:
    """The service `bots` with small limits."""
    async with run_suite(database_urls, only=("bots",), bots=LIMITS) as running:
        yield running


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots",)


class TestSlowloris:
    """Five hundred connections that never finish the head of their request."""

    async def test_delays_nobody_else(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        usual = await latency(admin, "/v1/bots", seconds=0.5)
        with contextlib.ExitStack() as stack:
            sockets = half_open(suite.urls["bots"], [f"127.0.0.{2 + number % 200}" for number in range(500)])
            for sock in sockets:
                stack.enter_context(contextlib.closing(sock))
            drips = asyncio.create_task(_drip(sockets))
            assert await latency(admin, "/v1/bots", seconds=2) < bearable(usual)
            drips.cancel()

    async def test_delays_nobody_behind_the_same_address(self, limited: RunningSuite):
        """The address may have 40 connections; each new one takes the place of one that has no request."""
        admin = await limited.client("bots", "admin")
        usual = await latency(admin, "/v1/bots", seconds=0.5)
        with contextlib.ExitStack() as stack:
            for sock in half_open(limited.urls["bots"], ["127.0.0.1"] * 500):
                stack.enter_context(contextlib.closing(sock))
            async with httpx.AsyncClient(base_url=limited.urls["bots"], headers=admin.headers, trust_env=False) as new:
                assert await latency(new, "/v1/bots", seconds=1) < bearable(usual)

    async def test_ends_when_the_time_for_a_head_is_over(self, limited: RunningSuite):
        async with opened(limited.urls["bots"]) as (reader, writer):
            writer.write(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
            started = time.monotonic()
            assert await status_of(reader, within=8) == 408
            assert await is_closed(reader, within=5)
            assert time.monotonic() - started < 8

    @pytest.mark.parametrize("drip", [b"", b"\r\n", b"x"])
    async def test_ends_whatever_it_drips(self, limited: RunningSuite, drip: bytes):
        async with opened(limited.urls["bots"]) as (reader, writer):
            dripping = asyncio.create_task(_write_often(writer, drip))
            assert await is_closed(reader, within=8)
            dripping.cancel()

    async def test_ends_after_an_answer_too(self, limited: RunningSuite):
        async with opened(limited.urls["bots"]) as (reader, writer):
            writer.write(head("GET", "/healthz"))
            assert await status_of(reader) == 200
            dripping = asyncio.create_task(_write_often(writer, b"\r\n"))
            assert await is_closed(reader, within=8)
            dripping.cancel()


class TestSlowBodies:
    async def test_end_when_their_time_is_over(self, limited: RunningSuite):
        key = await limited.keys.make("admin")
        async with opened(limited.urls["bots"]) as (reader, writer):
            writer.write(
                head("POST", "/v1/bots", Authorization=f"Bearer {key}", Content_Length="9", Content_Type="text/plain")
            )
            dripping = asyncio.create_task(_write_often(writer, b" ", seconds=0.4))
            assert await status_of(reader, within=8) == 408
            assert await is_closed(reader, within=5)
            dripping.cancel()

    async def test_have_as_much_more_time_as_they_send(self, limited: RunningSuite):
        """1.5 s are allowed, and 1 s more for each KiB: 8 KiB in 3 s are in time."""
        key = await limited.keys.make("admin")
        async with opened(limited.urls["bots"]) as (reader, writer):
            size = str(8 * 1024)
            writer.write(
                head(
                    "POST",
                    "/v1/bots",
                    Authorization=f"Bearer {key}",
                    Content_Length=size,
                    Content_Type="application/json",
                )
            )
            for _ in range(8):
                await asyncio.sleep(0.4)
                writer.write(b" " * 1024)
            assert await status_of(reader, within=5) in {400, 422}


class TestHeads:
    @pytest.mark.parametrize(
        "more",
        [
            b"X-Large: " + b"x" * 40_000 + b"\r\n\r\n",
            b"X-Large: " + b"x" * 400_000,
            b"".join(b"X-%d: y\r\n" % number for number in range(6000)) + b"\r\n",
        ],
        ids=["one header", "one that never ends", "many"],
    )
    async def test_are_refused_beyond_32_kib(self, suite: RunningSuite, more: bytes):
        async with opened(suite.urls["bots"]) as (reader, writer):
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: attacked\r\n" + more)
            assert await status_of(reader) == 431
            assert await is_closed(reader, within=5)

    async def test_count_trailers_of_a_body(self, suite: RunningSuite):
        key = await suite.keys.make("admin")
        async with opened(suite.urls["bots"]) as (reader, writer):
            writer.write(
                head("POST", "/v1/bots", Authorization=f"Bearer {key}", Transfer_Encoding="chunked") + b"0\r\n"
            )
            writer.write(b"".join(b"X-%d: y\r\n" % number for number in range(6000)) + b"\r\n")
            assert await status_of(reader) in {431, 422}
            assert await is_closed(reader, within=8)

    async def test_sent_ahead_in_thousands_are_refused(self, suite: RunningSuite):
        async with opened(suite.urls["bots"]) as (reader, writer):
            writer.write(head("GET", "/healthz") * 5000)
            assert await is_closed(reader, within=8)

    async def test_with_an_upgrade_stay_within_the_limits(self, limited: RunningSuite):
        async with opened(limited.urls["bots"]) as (reader, writer):
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
            writer.write(head("GET", "/healthz", **upgrade, Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ=="))
            assert await status_of(reader) != 101


class TestConnections:
    async def test_with_requests_under_way_are_limited_by_address(self, limited: RunningSuite):
        """Forty bodies on their way are requests: the next connection is refused, other addresses' are not."""
        key = await limited.keys.make("admin")
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(40):
                _, writer = await stack.enter_async_context(opened(limited.urls["bots"], source="127.0.0.9"))
                writer.write(
                    head(
                        "POST", "/v1/bots", Authorization=f"Bearer {key}", Content_Length="9", Content_Type="text/plain"
                    )
                )
            await asyncio.sleep(0.3)
            reader, _ = await stack.enter_async_context(opened(limited.urls["bots"], source="127.0.0.9"))
            assert await status_of(reader) == 503
            admin = await limited.client("bots", "admin")
            assert (await admin.get("/v1/bots")).status_code == 200


class TestFailedKeys:
    async def test_are_limited_and_lock_no_valid_key_out(self, limited: RunningSuite):
        admin = await limited.client("bots", "admin")
        wrong = {"Authorization": f"Bearer stb_admin_{'0' * 32}_{'a' * 43}"}
        async with httpx.AsyncClient(base_url=limited.urls["bots"], headers=wrong, trust_env=False) as stranger:
            statuses = [(await stranger.get("/v1/bots")).status_code for _ in range(30)]
            assert statuses == [401] * 20 + [429] * 10
            refused = await stranger.get("/v1/bots")
            assert int(refused.headers["Retry-After"]) >= 1
            assert (await admin.get("/v1/bots")).status_code == 200

    async def test_in_a_flood_delay_no_valid_key_behind_the_same_address(self, limited: RunningSuite):
        admin = await limited.client("bots", "admin")
        usual = await latency(admin, "/v1/bots", seconds=0.5)

        async def flood(number: int) -> None:
            wrong = head("GET", "/v1/bots", Authorization=f"Bearer stb_admin_{number:032x}_{'a' * 43}")
            async with opened(limited.urls["bots"]) as (reader, writer):
                while True:
                    writer.write(wrong)
                    await reader.readuntil(b"}")

        floods = [asyncio.create_task(flood(number)) for number in range(10)]
        try:
            assert await latency(admin, "/v1/bots", seconds=1) < bearable(usual)
        finally:
            for task in floods:
                task.cancel()
            await asyncio.gather(*floods, return_exceptions=True)


async def _drip(sockets: list[socket.socket]) -> None:
    while True:
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.send(b"x")
        await asyncio.sleep(0.5)


async def _write_often(writer: asyncio.StreamWriter, drip: bytes, *, seconds: float = 0.2) -> None:
    with contextlib.suppress(ConnectionError):
        while True:
            writer.write(drip)
            await writer.drain()
            await asyncio.sleep(seconds)
