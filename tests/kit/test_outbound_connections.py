"""Connections to servers of others: which answers end where, which connection is used again, and which is closed."""

import asyncio
import contextlib
import ssl
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from spotthebot.kit.outbound import connections, http
from spotthebot.kit.outbound.addresses import networks
from spotthebot.kit.outbound.errors import CallFailed, Failure
from spotthebot.kit.outbound.http import Answer, GuardedHttp
from spotthebot.kit.outbound.resolver import CheckingResolver
from tests.factories.bot_servers import raw_server, read_request

pytestmark = pytest.mark.usefixtures("no_services")

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
WHOLE = OK + b"Content-Length: 2\r\n\r\n{}"


class _Server:
    """Sends one of some bytes for each request, in turn, and notes the requests of each connection."""

    def __init__(self, *answers: bytes, then_closes: bool = False) -> None:
        self._answers = list(answers)
        self._then_closes = then_closes
        self.requests: list[bytes] = []
        self.connections = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while self._answers:
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(2)
            self.requests.append(head)
            writer.write(self._answers.pop(0))
            await writer.drain()
            if self._then_closes:
                return
        await asyncio.sleep(10)


@asynccontextmanager
async def _serving(server: _Server) -> AsyncIterator[tuple[GuardedHttp, str]]:
    allowed = networks(["127.0.0.0/8"])
    async with raw_server(server) as url, GuardedHttp(CheckingResolver(allowed), names_causes=True) as client:
        yield client, url


async def _post(client: GuardedHttp, url: str) -> Answer:
    async with asyncio.timeout(20):
        return await client.post(url, b"{}", {})


class TestAnswers:
    @pytest.mark.parametrize(
        "sent",
        [
            WHOLE,
            OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;ext=1\r\n}\r\n0\r\nX-Trailer: 1\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + WHOLE,
        ],
        ids=["a length", "chunks with an extension and a trailer", "interim answers before it"],
    )
    async def test_an_answer_ends_where_http_says_and_leaves_the_connection_for_the_next(self, sent: bytes):
        server = _Server(sent, sent)
        async with _serving(server) as (client, url):
            assert [(await _post(client, url)).body for _ in range(2)] == [b"{}", b"{}"]
        assert (server.connections, len(server.requests)) == (1, 2)

    async def test_an_answer_without_a_length_ends_with_the_connection(self):
        server = _Server(OK + b"\r\n{}", then_closes=True)
        async with _serving(server) as (client, url):
            assert (await _post(client, url)).json() == {}

    @pytest.mark.parametrize(
        "sent",
        [OK + b"Content-Length: 3\r\n\r\n{}", OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"],
        ids=["fewer bytes than its length", "no last chunk"],
    )
    async def test_an_answer_that_is_cut_off_is_not_whole(self, sent: bytes):
        async with _serving(_Server(sent, then_closes=True)) as (client, url):
            with pytest.raises(CallFailed, match="ended before it was complete") as failed:
                await _post(client, url)
        assert (failed.value.failure, failed.value.transient) == (Failure.INVALID, True)

    @pytest.mark.parametrize(
        "sent",
        [
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n",
            OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        ],
        ids=["another protocol", "two lengths", "a length and chunks"],
    )
    async def test_an_answer_whose_end_is_disputable_is_refused(self, sent: bytes):
        async with _serving(_Server(sent)) as (client, url):
            with pytest.raises(CallFailed, match="not HTTP") as failed:
                await _post(client, url)
        assert failed.value.failure is Failure.INVALID

    async def test_endless_interim_answers_are_refused(self):
        interim = b"HTTP/1.1 103 Early Hints\r\nX-Long: " + b"a" * 1000 + b"\r\n\r\n"
        async with _serving(_Server(interim * 70)) as (client, url):
            with pytest.raises(CallFailed, match="headers are longer than 65536 bytes"):
                await _post(client, url)

    async def test_compressed_bytes_count_as_those_they_stand_for(self):
        """Empty blocks of deflate (RFC 1951, 3.2.4) stand for no byte, so a limit on the result alone never ends."""
        empty = b"\x78\x01" + b"\x00\x00\x00\xff\xff" * 30
        sent = OK + b"Content-Encoding: deflate\r\nContent-Length: %d\r\n\r\n" % len(empty) + empty
        async with _serving(_Server(sent)) as (client, url):
            with pytest.raises(CallFailed) as failed:
                await client.post(url, b"{}", {}, largest=100)
        assert failed.value.failure is Failure.TOO_LONG


class TestConnections:
    @pytest.mark.parametrize(
        "sent",
        [
            WHOLE + WHOLE,
            WHOLE + b"more",
            WHOLE.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"),
            WHOLE.replace(b"1.1", b"1.0"),
        ],
        ids=["two answers", "an answer and more", "the server closes", "HTTP/1.0"],
    )
    async def test_a_connection_is_not_used_again_after(self, sent: bytes):
        server = _Server(sent, WHOLE)
        async with _serving(server) as (client, url):
            assert [(await _post(client, url)).body for _ in range(2)] == [b"{}", b"{}"]
        assert server.connections == 2

    async def test_the_first_of_two_answers_in_one_packet_counts(self):
        server = _Server(WHOLE + WHOLE.replace(b"200 OK", b"500 Oh").replace(b"{}", b"[]"), WHOLE)
        async with _serving(server) as (client, url):
            found = await _post(client, url)
        assert (found.status, found.body) == (200, b"{}")

    async def test_an_answer_that_nobody_asked_for_is_given_to_nobody(self):
        late = OK + b'Content-Length: 8\r\n\r\n"forged"'

        async def says_more_later(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(WHOLE)
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.write(late)
            await asyncio.sleep(1)

        async with (
            raw_server(says_more_later) as url,
            GuardedHttp(CheckingResolver(networks(["127.0.0.0/8"]))) as client,
        ):
            assert (await _post(client, url)).json() == {}
            await asyncio.sleep(0.1)
            assert (await _post(client, url)).json() == {}

    async def test_a_call_that_was_given_up_closes_its_connection(self):
        sent, ended = asyncio.Event(), asyncio.Event()

        async def sends_half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(WHOLE[:-1])
            sent.set()
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
            ended.set()

        async with (
            raw_server(sends_half) as url,
            GuardedHttp(CheckingResolver(networks(["127.0.0.0/8"]))) as client,
        ):
            asking = asyncio.create_task(client.post(url, b"{}", {}))
            await sent.wait()
            asking.cancel()
            await asyncio.wait_for(ended.wait(), 20)

    async def test_a_connection_that_nobody_takes_is_closed(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(connections, "_IDLE_SECONDS", 0.05)
        ended = asyncio.Event()

        async def waits_for_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(WHOLE)
            assert await reader.read() == b""
            ended.set()

        async with (
            raw_server(waits_for_the_end) as url,
            GuardedHttp(CheckingResolver(networks(["127.0.0.0/8"]))) as client,
        ):
            await _post(client, url)
            await asyncio.wait_for(ended.wait(), 20)

    async def test_each_address_of_a_name_is_tried(self):
        """`localhost` may stand for ::1 as well, where nobody listens here."""
        server = _Server(WHOLE)
        allowed = networks(["127.0.0.0/8", "::1/128"])
        async with raw_server(server) as url, GuardedHttp(CheckingResolver(allowed)) as client:
            assert (await _post(client, url.replace("127.0.0.1", "localhost"))).body == b"{}"


class TestRequests:
    async def test_a_request_names_the_host_the_length_and_ourselves(self):
        server = _Server(WHOLE)
        async with _serving(server) as (client, url):
            await client.post(f"{url}/a%20b?c=d", b"{}", {"X-One": "1"})
        line, *lines = server.requests[0].decode().splitlines()
        assert line == "POST /a%20b?c=d HTTP/1.1"
        host = url.removeprefix("http://")
        own = [f"Host: {host}", "Accept-Encoding: identity", "User-Agent: spotthebot", "X-One: 1", "Content-Length: 2"]
        assert [each for each in lines if each] == own

    @pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\nX-Injected: 1", "a\rb", "a\0b"])
    async def test_a_header_that_would_begin_another_is_not_sent(self, value: str):
        server = _Server(WHOLE)
        async with _serving(server) as (client, url):
            with pytest.raises(CallFailed, match="can't be called"):
                await client.post(url, b"{}", {"Authorization": value})
        assert server.requests == []

    @pytest.mark.parametrize(
        "url", ["http://h/a b", "http://h/\r\nX-Injected: 1", "ftp://h/", "http:///a", "http://user:word@h/", "h"]
    )
    async def test_a_url_that_is_none_gets_no_request(self, url: str):
        async with GuardedHttp(CheckingResolver(())) as client:
            with pytest.raises(CallFailed, match="can't be called"):
                await _post(client, url)


class TestTls:
    async def test_a_trusted_certificate_counts_for_its_own_name_only(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
        subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
        made = await asyncio.create_subprocess_exec(*command, "-keyout", key, "-out", certificate, stderr=DEVNULL)
        assert await made.wait() == 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        trusting = ssl.create_default_context(cafile=certificate)
        monkeypatch.setattr(http, "_tls_context", lambda: trusting)
        allowed = networks(["127.0.0.0/8", "::1/128"])
        async with (
            raw_server(_Server(WHOLE, WHOLE), tls=context) as url,
            GuardedHttp(CheckingResolver(allowed), names_causes=True) as client,
        ):
            assert (await _post(client, url.replace("127.0.0.1", "localhost"))).body == b"{}"
            with pytest.raises(CallFailed, match="TLS failed"):
                await _post(client, url)
