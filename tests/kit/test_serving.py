"""The limits of a server's connections at their bounds, on a clock that the test moves: no socket, no waiting."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from uvicorn.server import ServerState

from spotthebot.kit.serving.configuration import server_config
from spotthebot.kit.serving.connections import ConnectionLimits, ConnectionTable, network_of
from spotthebot.kit.serving.protocol import MAX_HEAD_BYTES, LimitedConfig, LimitedProtocol
from spotthebot.kit.settings import EdgeSettings

HEAD_SECONDS, BODY_SECONDS = 10.0, 20.0
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nContent-Length: 4096\r\n\r\n"


class _Clock:
    """The running loop, at a time that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def time(self) -> float:
        return self.now

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio.get_running_loop(), name)


class _Wire(asyncio.Transport):
    """Keeps what is written; `unread` bytes wait for the client."""

    def __init__(self, client: str = "192.0.2.1") -> None:
        super().__init__()
        self.sent, self.unread = b"", 0
        self.is_closed = self.is_aborted = False
        self._client = client

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return (self._client, 1) if name == "peername" else default

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += bytes(data)

    def get_write_buffer_size(self) -> int:
        return self.unread

    def pause_reading(self) -> None:
        """Nothing is read here."""

    def resume_reading(self) -> None:
        """Nothing is read here."""

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = self.is_aborted = True

    @property
    def status(self) -> int | None:
        return int(self.sent.split()[1]) if self.sent else None


class _Application:
    """Answers when it is let, with or without reading the body."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()
        self.answers.set()

    async def __call__(self, _scope: Any, _receive: Any, send: Any) -> None:
        await self.answers.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})


class _Server:
    """Makes connections to an application."""

    def __init__(self, per_address: int = 0) -> None:
        self.clock, self.application = _Clock(), _Application()
        self._config = LimitedConfig(self.application, http=LimitedProtocol, ws="none", lifespan="off", log_config=None)
        self._config.table = ConnectionTable(ConnectionLimits(per_address, HEAD_SECONDS, BODY_SECONDS))

    def connect(self, client: str = "192.0.2.1") -> tuple[LimitedProtocol, _Wire]:
        connection = LimitedProtocol(self._config, ServerState(), {}, self.clock)
        wire = _Wire(client)
        connection.connection_made(wire)
        return connection, wire


async def _settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class TestHeads:
    @pytest.mark.parametrize(("more", "status"), [(0, 200), (1, 431)])
    @pytest.mark.parametrize("at_once", [True, False])
    async def test_hold_32_kib_and_not_a_byte_more(self, more: int, status: int, at_once: bool):
        server = _Server()
        connection, wire = server.connect()
        counted = len(b"/") + len(b"Host") + len(b"a") + len(b"X")
        lines = [b"GET / HTTP/1.1\r\n", b"Host: a\r\n", b"X: " + (MAX_HEAD_BYTES - counted + more) * b"x" + b"\r\n\r\n"]
        for part in [b"".join(lines)] if at_once else lines:
            connection.data_received(part)
        await _settled()
        assert wire.status == status
        assert (b"may hold 32768 bytes at most" in wire.sent, wire.is_closed) == (bool(more), bool(more))
        assert wire.sent.count(b"HTTP/1.1 ") == 1

    @pytest.mark.parametrize(("more", "status"), [(0, None), (1, 431)])
    async def test_hold_as_much_where_a_line_has_no_end(self, more: int, status: int | None):
        server = _Server()
        connection, wire = server.connect()
        for request in (b"", REQUEST):
            if request:
                connection.data_received(request)
                await _settled()
                wire.sent = b""
            started = b"GET / HTTP/1.1\r\nX: "
            connection.data_received(started)
            connection.data_received((MAX_HEAD_BYTES - len(started) + more) * b"x")
            assert (wire.status, wire.is_closed) == (status, bool(more))
            if more:
                return
            connection.data_received(b"\r\n\r\n")
            await _settled()

    async def test_count_for_each_request_anew(self):
        server = _Server()
        connection, wire = server.connect()
        for _ in range(3):
            connection.data_received(b"GET / HTTP/1.1\r\nX: " + MAX_HEAD_BYTES // 2 * b"x" + b"\r\n\r\n")
            await _settled()
        assert wire.sent.count(b"200 OK") == 3

    @pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost:", REQUEST])
    async def test_have_their_time_and_end_with_it(self, sent: bytes):
        server = _Server()
        connection, wire = server.connect()
        server.clock.now += 1
        if sent:
            connection.data_received(sent)
        await _settled()
        started = server.clock.now if sent == REQUEST else server.clock.now - 1
        if sent == REQUEST:
            connection.data_received(b"GET")  # the next head has a time of its own
            wire.sent = b""
        connection.check(started + HEAD_SECONDS - 0.001, 1)
        assert (wire.status, wire.is_closed) == (None, False)
        connection.check(started + HEAD_SECONDS, 1)
        assert (wire.status, wire.is_closed) == (408, True)
        assert b"The request's head took too long." in wire.sent

    async def test_sent_ahead_keep_their_time_when_the_answer_before_is_out(self):
        server = _Server()
        server.application.answers.clear()
        connection, wire = server.connect()
        connection.data_received(REQUEST)
        await _settled()
        connection.data_received(b"GET")
        server.application.answers.set()
        await _settled()
        connection.check(server.clock.now + HEAD_SECONDS - 0.001, 1)
        assert (wire.status, wire.is_closed) == (200, False)
        connection.check(server.clock.now + HEAD_SECONDS, 1)
        assert (b"408" in wire.sent, wire.is_closed) == (True, True)

    async def test_those_that_are_no_http_are_refused(self):
        connection, wire = _Server().connect()
        connection.data_received(b"\x16\x03\x01\r\n\r\n")
        assert (wire.status, wire.is_closed) == (400, True)

    @pytest.mark.parametrize(("ahead", "refused"), [(15, False), (16, False), (17, True)])
    async def test_sent_ahead_are_sixteen_at_most(self, ahead: int, refused: bool):
        server = _Server()
        server.application.answers.clear()
        connection, wire = server.connect()
        connection.data_received(REQUEST * (1 + ahead))
        assert (b"429" in wire.sent, wire.is_closed) == (refused, refused)


class TestBodies:
    @pytest.mark.parametrize("received", [0, 512, 2048])
    async def test_have_their_time_and_a_second_more_for_each_kib(self, received: int):
        server = _Server()
        server.application.answers.clear()
        connection, wire = server.connect()
        server.clock.now += 1
        connection.data_received(POST + received * b"x")
        await _settled()
        ends = server.clock.now + BODY_SECONDS + received / 1024
        connection.check(ends - 0.001, 1)
        assert (wire.status, wire.is_closed) == (None, False)
        connection.check(ends, 1)
        assert (wire.status, wire.is_closed) == (408, True)
        assert b"The request's body took too long." in wire.sent

    async def test_those_that_are_whole_have_no_end_while_they_are_answered(self):
        server = _Server()
        server.application.answers.clear()
        connection, wire = server.connect()
        connection.data_received(POST + 4096 * b"x")
        connection.check(server.clock.now + 10_000, 1)
        assert not wire.is_closed
        assert connection.expendable is None

    async def test_wait_while_the_application_reads_nothing(self):
        server = _Server()
        server.application.answers.clear()
        connection, wire = server.connect()
        connection.data_received(POST)
        connection.flow.pause_reading()
        ends = server.clock.now + BODY_SECONDS
        connection.check(ends + 3, 7)
        connection.flow.resume_reading()
        connection.check(ends + 6.999, 1)
        assert not wire.is_closed
        connection.check(ends + 7, 1)
        assert (wire.status, wire.is_closed) == (408, True)

    async def test_those_that_were_answered_before_they_are_whole_have_two_seconds_more(self):
        server = _Server()
        connection, wire = server.connect()
        connection.data_received(POST)
        await _settled()
        connection.data_received(1024 * b"x")  # gains nothing any more
        connection.check(server.clock.now + 1.999, 1)
        assert (wire.status, wire.is_closed) == (200, False)
        connection.check(server.clock.now + 2, 1)
        assert (wire.status, wire.is_aborted) == (200, True)

    async def test_those_that_were_answered_and_then_come_whole_leave_the_connection_for_another(self):
        server = _Server()
        connection, wire = server.connect()
        connection.data_received(POST)
        await _settled()
        server.clock.now += 1
        connection.data_received(4096 * b"x")
        connection.check(server.clock.now + HEAD_SECONDS - 0.001, 1)
        connection.data_received(REQUEST)
        await _settled()
        assert (wire.sent.count(b"200 OK"), wire.is_closed) == (2, False)


class TestReaders:
    async def test_those_that_take_nothing_for_two_minutes_are_left(self):
        connection, wire = _Server().connect()
        for unread, seconds in ((1, 200), (5, 100), (5, 100), (4, 100), (4, 120), (0, 100), (0, 100)):
            wire.unread = unread
            connection.check(0, seconds)
        assert not wire.is_aborted
        for unread in (4, 4):
            wire.unread = unread
            connection.check(0, 120.001)
        assert wire.is_aborted

    async def test_those_of_a_connection_that_was_closed_have_until_the_next_check(self):
        connection, wire = _Server().connect()
        wire.close()
        connection.check(0, 1)
        assert wire.is_aborted


class TestConnectionsOfAnAddress:
    async def test_give_way_to_another_unfinished_heads_first_then_the_longest_idle(self):
        server = _Server(per_address=3)
        made = []
        for sent in (REQUEST, b"", b"GET"):
            server.clock.now += 1
            made.append(server.connect())
            if sent:
                made[-1][0].data_received(sent)
                await _settled()
        order = []
        for _ in range(3):
            server.clock.now += 1
            made.append(server.connect())
            made[-1][0].data_received(REQUEST)
            await _settled()
            order += [number for number, (_, wire) in enumerate(made) if wire.is_aborted and number not in order]
        assert order == [1, 2, 0]

    async def test_with_requests_under_way_let_no_other_in(self):
        server = _Server(per_address=1)
        server.application.answers.clear()
        first, _ = server.connect()
        first.data_received(REQUEST)
        refused, wire = server.connect()
        assert (wire.status, wire.is_closed) == (503, True)
        assert b"Too many connections from this address." in wire.sent
        refused.connection_lost(None)
        assert server.connect("192.0.2.2")[1].status is None
        first.connection_lost(None)
        assert server.connect()[1].status is None

    async def test_are_any_number_without_a_limit(self):
        server = _Server(per_address=0)
        assert [server.connect()[1].status for _ in range(50)] == [None] * 50

    @pytest.mark.parametrize(
        ("host", "network"),
        [
            ("192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2::", "2001:db8:1:2::"),
            ("2001:db8:1:3::1", "2001:db8:1:3::"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("testclient", "testclient"),
        ],
    )
    def test_are_those_of_its_network(self, host: str, network: str):
        assert network_of(host) == network


class TestSweeps:
    async def test_check_every_connection_with_the_time_since_the_last_until_none_is_left(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        timers: list[tuple[float, Callable[..., None], tuple[Any, ...]]] = []

        class Loop:
            now = 0.0

            def time(self) -> float:
                return self.now

            def call_later(self, delay: float, then: Callable[..., None], *given: Any) -> object:
                timers.append((delay, then, given))
                return object()

        class Checked:
            address = "192.0.2.1"
            expendable = None

            def __init__(self) -> None:
                self.checks: list[tuple[float, float]] = []

            def check(self, now: float, seconds: float) -> None:
                self.checks.append((now, seconds))

            def abort(self) -> None:
                """It is never in excess."""

        loop, both = Loop(), [Checked(), Checked()]
        monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
        table = ConnectionTable(ConnectionLimits(0, 1, 1))
        for each in both:
            table.add(each)
        for now in (1.0, 2.5):
            loop.now = now
            delay, then, given = timers.pop()
            assert (delay, timers) == (1.0, [])
            then(*given)
        assert [each.checks for each in both] == [[(1.0, 1.0), (2.5, 1.5)]] * 2
        for each in both:
            table.discard(each)
        _, then, given = timers.pop()
        then(*given)
        assert timers == []
        table.add(both[0])
        assert len(timers) == 1


def test_idle_connections_outlast_those_that_clients_and_proxies_keep():
    """httpx keeps one for 5 s and nginx for 60 s; uvicorn's own 5 s let requests meet the end of a connection."""
    app = FastAPI()
    app.state.core = SimpleNamespace(settings=EdgeSettings())
    assert server_config(app).timeout_keep_alive > 60
