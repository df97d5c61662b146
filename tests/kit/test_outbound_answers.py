"""Answers of others' servers, byte for byte: what each becomes, and whether its connection is asked again."""

import asyncio
import gzip
import socket
import time
import zlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from spotthebot.kit.outbound import connections
from spotthebot.kit.outbound.addresses import networks, refusal_of
from spotthebot.kit.outbound.connections import Connection, IdleConnections
from spotthebot.kit.outbound.errors import CallFailed, Failure
from spotthebot.kit.outbound.http import Answer, GuardedHttp
from spotthebot.kit.outbound.resolver import CheckingResolver
from tests.factories.bot_servers import raw_server, says

pytestmark = pytest.mark.usefixtures("no_services")

LARGEST = 10
HEAD = b"HTTP/1.1 200 OK\r\n"
INVALID, TOO_LONG, UNREACHABLE = Failure.INVALID, Failure.TOO_LONG, Failure.UNREACHABLE


class _Wire(asyncio.Transport):
    """Keeps what is written, and ends without a delay."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += bytes(data)

    def is_closing(self) -> bool:
        return self.is_closed

    def abort(self) -> None:
        self.is_closed = True


def _connected() -> tuple[Connection, _Wire]:
    connection, wire = Connection(), _Wire()
    connection.connection_made(wire)
    return connection, wire


async def _asked(connection: Connection, happens: Callable[[], None], largest: int = LARGEST) -> bytes:
    asking = asyncio.ensure_future(connection.ask(b"?", largest))
    await asyncio.sleep(0)
    happens()
    return bytes((await asking).body)


async def _read(connection: Connection, *parts: bytes, largest: int = LARGEST) -> bytes:
    def happens() -> None:
        for part in parts:
            connection.data_received(part)

    return await _asked(connection, happens, largest)


def _whole(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    lines = b"".join(header + b"\r\n" for header in (*headers, b"Content-Length: %d" % len(body)))
    return b"HTTP/1.1 " + status + b"\r\n" + lines + b"\r\n" + body


class TestWholeAnswers:
    @pytest.mark.parametrize(
        "encode", [lambda body: body, gzip.compress, zlib.compress], ids=["as it is", "gzip", "deflate"]
    )
    @pytest.mark.parametrize("size", [0, LARGEST - 1, LARGEST, LARGEST + 1, 100 * LARGEST])
    async def test_are_read_up_to_the_limit_and_not_a_byte_more(self, encode: Callable[[bytes], bytes], size: int):
        sent = encode(size * b"a")
        name = {b"\x1f\x8b": b"GZIP", b"\x78\x9c": b"deflate"}.get(sent[:2], b"identity")
        largest = max(LARGEST, len(sent)) if size <= LARGEST else LARGEST
        connection, wire = _connected()
        reading = _read(connection, _whole(sent, b"Content-Encoding: " + name), largest=largest)
        if size <= LARGEST:
            assert await reading == size * b"a"
            assert (connection.is_reusable, wire.is_closed, wire.sent) == (True, False, b"?")
        else:
            with pytest.raises(CallFailed, match=f"larger than {LARGEST} bytes") as failed:
                await reading
            assert (failed.value.failure, failed.value.status) == (TOO_LONG, 200)
            assert (connection.is_reusable, wire.is_closed) == (False, True)

    async def test_are_the_same_in_whatever_parts_they_come(self):
        sent = _whole(gzip.compress(b"abc"), b"Content-Encoding: gzip")
        connection, _ = _connected()
        assert await _read(connection, *(bytes([byte]) for byte in sent), largest=100) == b"abc"
        assert await _read(connection, sent, largest=100) == b"abc"

    async def test_come_after_interim_answers_of_any_status_below_200(self):
        connection, _ = _connected()
        assert await _read(connection, b"HTTP/1.1 199 Soon\r\n\r\n" + _whole(b"a")) == b"a"

    async def test_have_the_first_of_repeated_headers_in_lower_case_and_none_of_trailers(self):
        connection, _ = _connected()
        chunks = b"1\r\na\r\n0\r\nX-Late: 1\r\n\r\n"
        sent = HEAD + b"X-Two: one\r\nX-TWO: two \r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
        asking = asyncio.ensure_future(connection.ask(b"?", LARGEST))
        await asyncio.sleep(0)
        connection.data_received(sent)
        answer = await asking
        assert (answer.status, answer.reason, bytes(answer.body)) == (200, "OK", b"a")
        assert answer.headers == {"x-two": "one", "transfer-encoding": "chunked"}

    @pytest.mark.parametrize("size", [64 * 1024, 64 * 1024 + 1])
    async def test_have_headers_up_to_a_limit(self, size: int):
        started = HEAD + b"X-Long: "
        connection, _ = _connected()
        parts = started + (size - len(started)) * b"a", b"\r\nContent-Length: 0\r\n\r\n"
        if size == 64 * 1024:
            assert await _read(connection, *parts) == b""
        else:
            with pytest.raises(CallFailed, match="headers are longer than 65536 bytes") as failed:
                await _read(connection, *parts)
            assert (failed.value.failure, failed.value.status) == (INVALID, None)


class TestBrokenAnswers:
    @pytest.mark.parametrize(
        ("parts", "said", "status"),
        [
            ([_whole(b"a", b"Content-Encoding: br")], "compressed with br, which was not asked for", 200),
            ([_whole(b"plain", b"Content-Encoding: gzip")], "can't be decompressed", 200),
            ([b"SMTP\r\n"], "not HTTP", None),
            ([HEAD + b"Content-Length: x\r\n\r\n"], "not HTTP", None),
            ([HEAD + b"Transfer-Encoding: chunked\r\n\r\nx\r\n"], "not HTTP", 200),
            ([b"HTTP/1.1 101 No\r\nUpgrade: a\r\nConnection: Upgrade\r\n\r\n"], "changes to another protocol", 101),
        ],
    )
    async def test_are_invalid_with_the_reason_and_close_the_connection(
        self, parts: Sequence[bytes], said: str, status: int | None
    ):
        connection, wire = _connected()
        with pytest.raises(CallFailed, match=said) as failed:
            await _read(connection, *parts)
        found = failed.value
        assert (found.failure, found.transient, found.status) == (INVALID, False, status)
        assert (connection.is_reusable, wire.is_closed) == (False, True)

    @pytest.mark.parametrize(
        ("before", "error", "failure", "said", "status"),
        [
            (b"", None, UNREACHABLE, "the server closed it", None),
            (b"HTTP/1.1 2", None, UNREACHABLE, "the server closed it", None),
            (b"", OSError("reset"), UNREACHABLE, "reset", None),
            (HEAD + b"Content-Length: 2\r\n\r\na", None, INVALID, "ended before it was complete", 200),
            (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", None, INVALID, "ended before it was complete", 200),
            (HEAD + b"\r\na", OSError("reset"), INVALID, "ended before it was complete", 200),
        ],
    )
    async def test_those_that_end_too_early_may_come_whole_another_time(
        self, before: bytes, error: OSError | None, failure: Failure, said: str, status: int | None
    ):
        connection, _ = _connected()

        def happens() -> None:
            if before:
                connection.data_received(before)
            connection.connection_lost(error)

        with pytest.raises(CallFailed, match=said) as failed:
            await _asked(connection, happens)
        assert (failed.value.failure, failed.value.transient, failed.value.status) == (failure, True, status)
        with pytest.raises(CallFailed, match="the server closed it"):
            await connection.ask(b"?", LARGEST)

    async def test_without_a_length_are_whole_at_the_end_of_the_connection(self):
        connection, _ = _connected()

        def happens() -> None:
            connection.data_received(HEAD + b"\r\nab")
            connection.connection_lost(None)

        assert await _asked(connection, happens) == b"ab"
        assert not connection.is_reusable

    async def test_those_that_nobody_asked_for_close_the_connection(self):
        connection, wire = _connected()
        connection.data_received(HEAD)
        assert wire.is_closed


class TestIdleConnections:
    async def test_give_the_last_used_of_an_origin_that_can_still_be_asked(self):
        idle = IdleConnections()
        made = [_connected() for _ in range(4)]
        for connection, _ in made:
            await _read(connection, _whole(b""))
        for key, (connection, _) in zip("aaab", made, strict=True):
            idle.give_back(key, connection)
        made[2][0].connection_lost(None)
        closed, _ = _connected()
        idle.give_back("c", closed)  # was never asked
        assert [idle.take(key) for key in "aaabc"] == [made[1][0], made[0][0], None, made[3][0], None]

    async def test_are_all_closed_at_the_end(self):
        idle = IdleConnections()
        connection, wire = _connected()
        await _read(connection, _whole(b""))
        idle.give_back("a", connection)
        idle.close()
        assert (wire.is_closed, idle.take("a")) == (True, None)

    async def test_are_closed_in_time_where_they_are_given_back_after_the_end(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(connections, "_IDLE_SECONDS", 0.01)
        idle = IdleConnections()
        (first, _), (late, wire) = _connected(), _connected()
        for connection in (first, late):
            await _read(connection, _whole(b""))
        idle.give_back("a", first)
        idle.close()
        idle.give_back("a", late)
        await asyncio.sleep(0.03)
        assert wire.is_closed

    async def test_are_closed_thirty_seconds_after_their_last_use(self, monkeypatch: pytest.MonkeyPatch):
        idle, made = IdleConnections(), [_connected() for _ in range(3)]
        for connection, _ in made:
            await _read(connection, _whole(b""))
        timers: list[tuple[float, Callable[[], None]]] = []

        class Loop:
            def call_later(self, delay: float, then: Callable[[], None]) -> object:
                timers.append((delay, then))
                return object()

        now, found = 0.0, []
        with monkeypatch.context() as patched:
            patched.setattr(asyncio, "get_running_loop", Loop)
            patched.setattr(time, "monotonic", lambda: now)
            for at, key, (connection, _) in zip((0.0, 10.0, 25.0), "aba", made, strict=True):
                now = at
                idle.give_back(key, connection)
            for at in (29.0, 30.0, 40.0, 55.0):
                now = at
                delay, then = timers.pop()
                then()
                found.append((delay, [wire.is_closed for _, wire in made], len(timers)))
        assert found == [
            (30.0, [False, False, False], 1),
            (1.0, [True, False, False], 1),
            (10.0, [True, True, False], 1),
            (15.0, [True, True, True], 0),
        ]


class TestRefusals:
    async def _refused(self, status: bytes, body: bytes = b"", headers: bytes = b"") -> CallFailed:
        allowed = CheckingResolver(networks(["127.0.0.0/8"]))
        async with raw_server(says(body, status=status, headers=headers)) as url, GuardedHttp(allowed) as http:
            with pytest.raises(CallFailed) as failed:
                await http.post(url, b"{}", {})
        return failed.value

    @pytest.mark.parametrize(
        ("after", "seconds"),
        [(b"0", 0), (b"7", 7), (b"3600", 3600), (b"3601", 3600), (b"-1", None), (b"1.5", 1.5), (b"\xb2", None)],
    )
    async def test_say_after_how_long_another_call_may_help_an_hour_at_most(self, after: bytes, seconds: float | None):
        for status in (b"429 Slow", b"503 Later"):
            found = await self._refused(status, headers=b"Retry-After: " + after + b"\r\n")
            assert found.retry_after_seconds == seconds

    @pytest.mark.parametrize(
        ("left", "seconds"), [(timedelta(minutes=2), 120), (timedelta(days=2), 3600), (timedelta(minutes=-2), 0)]
    )
    async def test_say_so_by_a_date_too(self, left: timedelta, seconds: float):
        at = format_datetime(datetime.now(UTC) + left, usegmt=True)
        found = await self._refused(b"429 Slow", headers=b"Retry-After: " + at.encode() + b"\r\n")
        assert found.retry_after_seconds == pytest.approx(seconds, abs=5)

    @pytest.mark.parametrize(
        ("status", "failure", "transient"),
        [
            (300, Failure.HTTP_ERROR, False),
            (399, Failure.HTTP_ERROR, False),
            (400, Failure.HTTP_ERROR, False),
            (429, Failure.RATE_LIMITED, True),
            (500, Failure.HTTP_ERROR, False),
            (501, Failure.HTTP_ERROR, False),
            (502, Failure.HTTP_ERROR, True),
            (503, Failure.HTTP_ERROR, True),
            (504, Failure.HTTP_ERROR, True),
            (505, Failure.HTTP_ERROR, False),
        ],
    )
    async def test_are_for_good_or_not_by_their_status(self, status: int, failure: Failure, transient: bool):
        found = await self._refused(b"%d Said" % status)
        assert (found.failure, found.transient, found.status) == (failure, transient, status)
        assert ("redirects" in found.detail) is (status < 400)

    async def test_quote_the_first_words_of_the_body(self):
        assert (await self._refused(b"500 Oh", b" why ")).detail == "It answered 500 Oh: why"
        assert (await self._refused(b"500 Oh")).detail == "It answered 500 Oh"
        long = await self._refused(b"500 Oh", 1000 * b"a")
        assert long.detail == f"It answered 500 Oh: {1000 * 'a'}"[:300] + "…"
        wide = await self._refused(b"500 Oh", 200 * "é".encode())  # of two bytes each: 300 bytes are quoted
        assert wide.detail == f"It answered 500 Oh: {150 * 'é'}"

    async def test_name_where_a_redirect_leads(self):
        found = await self._refused(b"302 Found", headers=b"Location: /there\r\n")
        assert found.detail == "It redirects (302) to /there, and redirects are not followed: register the final URL."
        assert "to nowhere," in (await self._refused(b"302 Found")).detail


class TestJson:
    @pytest.mark.parametrize("media_type", ["application/json", "application/problem+json"])
    def test_is_read_where_the_answer_says_that_it_is_some(self, media_type: str):
        assert Answer(200, media_type, b'{"a": [1]}').json() == {"a": [1]}

    @pytest.mark.parametrize(
        ("media_type", "body", "said"),
        [
            ("text/html", b"{}", "The answer's content type is text/html, not application/json."),
            ("", b"{}", "The answer's content type is missing, not application/json."),
            ("application/json", b'"\xff"', "The answer is not UTF-8: invalid start byte at byte 1."),
            ("application/json", b"", "The answer is not JSON: "),
            ("application/json", 100_000 * b"[", "The answer is not JSON: "),
        ],
    )
    def test_is_refused_with_the_reason_where_it_is_none(self, media_type: str, body: bytes, said: str):
        with pytest.raises(CallFailed) as failed:
            Answer(200, media_type, body).json()
        assert failed.value.detail.startswith(said)
        assert failed.value.failure is INVALID


class TestAddresses:
    @pytest.mark.parametrize(
        ("address", "refused"),
        [
            ("2001:0:a00:1::f7f7:f7f7", "10.0.0.1 is a private address (RFC 1918)"),  # the server's, of Teredo's
            ("2001:0:808:808::f5ff:fffe", "10.0.0.1 is a private address (RFC 1918)"),  # the client's, inverted
            ("2001:0:808:808::f7f7:f7f7", None),
            ("2600::5efe:a00:1", "10.0.0.1 is a private address (RFC 1918)"),  # ISATAP's
            ("2600::200:5efe:a00:1", "10.0.0.1 is a private address (RFC 1918)"),
            ("2600::200:5eff:a00:1", None),
            ("2002:a00:1::", "10.0.0.1 is a private address (RFC 1918)"),
            *((f"{before}a00:1", "10.0.0.1 is a private address (RFC 1918)") for before in ("::", "64:ff9b::")),
            *((f"{before}a00:1", "10.0.0.1 is a private address (RFC 1918)") for before in ("::ffff:", "::ffff:0:")),
        ],
    )
    def test_in_another_have_to_be_allowed_as_well(self, address: str, refused: str | None):
        networks_around = ("2001::/32", "2600::/16", "2002::/16", "::/64", "64:ff9b::/96")
        assert refusal_of(address, networks(networks_around)) == refused


async def test_where_nothing_answers_another_call_may_help():
    with socket.socket() as closed:  # bound, but nobody listens
        closed.bind(("127.0.0.1", 0))
        async with asyncio.timeout(20), GuardedHttp(CheckingResolver(networks(["127.0.0.0/8"]))) as http:
            with pytest.raises(CallFailed) as failed:
                await http.post(f"http://127.0.0.1:{closed.getsockname()[1]}/", b"{}", {})
    assert (failed.value.failure, failed.value.transient, failed.value.status) == (UNREACHABLE, True, None)
    assert failed.value.detail == "No HTTP server answers at this URL."
