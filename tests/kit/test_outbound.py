"""Calls to servers of others: what comes back as an answer, and what as a failure with its status."""

import ssl
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from yarl import URL

from spotthebot.kit.outbound.addresses import networks
from spotthebot.kit.outbound.errors import AddressNotAllowed, CallFailed, Failure, UrlNotUsable
from spotthebot.kit.outbound.http import GuardedHttp, _explained
from spotthebot.kit.outbound.owners import HttpByOwner
from spotthebot.kit.outbound.resolver import CheckingResolver
from spotthebot.kit.outbound.urls import HTTP, SOCKET, read_url
from tests.factories.bot_servers import raw_server, says

LOOPBACK = networks(["127.0.0.0/8"])
REQUEST: Any = SimpleNamespace(real_url="http://a")


class TestGuardedHttp:
    async def test_gives_status_type_and_body(self):
        async with raw_server(says(b'{"a": 1}', status=b"202 Accepted")) as url, _http() as http:
            answer = await http.post(url, b"{}", {})
        assert (answer.status, answer.media_type, answer.json()) == (202, "application/json", {"a": 1})

    @pytest.mark.parametrize(
        ("status", "failure", "transient"),
        [
            (b"410 Gone", Failure.HTTP_ERROR, False),
            (b"302 Found", Failure.HTTP_ERROR, False),
            (b"429 Slow down", Failure.RATE_LIMITED, True),
            (b"503 Later", Failure.HTTP_ERROR, True),
        ],
    )
    async def test_a_refusal_says_its_status_and_whether_another_call_may_help(
        self, status: bytes, failure: Failure, transient: bool
    ):
        async with raw_server(says(b"", status=status)) as url, _http() as http:
            with pytest.raises(CallFailed) as failed:
                await http.post(url, b"{}", {})
        found = failed.value
        assert (found.status, found.failure, found.transient) == (int(status[:3]), failure, transient)

    async def test_the_rest_of_an_answer_that_is_too_large_is_not_read(self):
        async with raw_server(says(b"a" * 101)) as url, _http() as http:
            with pytest.raises(CallFailed, match="larger than 100 bytes"):
                await http.post(url, b"{}", {}, largest=100)

    async def test_an_address_that_is_not_allowed_is_no_connection(self):
        async with GuardedHttp(CheckingResolver(())) as http:
            with pytest.raises(CallFailed, match="may not be called") as failed:
                await http.post("http://127.0.0.1:1/", b"{}", {})
        assert (failed.value.status, failed.value.transient) == (None, False)

    @pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1"])
    async def test_a_websocket_to_an_address_that_is_not_allowed_is_refused_by_its_name(self, address: str):
        async with GuardedHttp(CheckingResolver(())) as http:
            with pytest.raises(CallFailed) as failed:
                await http.open_socket(f"ws://{address}:1/")
            with pytest.raises(AddressNotAllowed) as refused:
                http.resolver.check(address, address)
        assert (failed.value.failure, failed.value.detail) == (Failure.UNREACHABLE, refused.value.detail)
        assert address in failed.value.detail

    async def test_a_websocket_is_asked_for_by_the_url_as_it_is_written(self, monkeypatch: pytest.MonkeyPatch):
        asked: list[tuple[str, int]] = []

        async def connect(url: URL, *, max_msg_size: int) -> None:
            asked.append((str(url), max_msg_size))

        http = _http()
        monkeypatch.setattr(http, "_session", SimpleNamespace(ws_connect=connect))
        await http.open_socket("ws://127.0.0.1:1/%7ea?b=%2f", largest=7)
        assert asked == [("ws://127.0.0.1:1/%7ea?b=%2f", 7)]

    async def test_a_client_that_is_not_open_opens_no_websocket(self):
        with pytest.raises(RuntimeError, match="not open"):
            await _http().open_socket("ws://127.0.0.1:1/")


class TestCauses:
    @pytest.mark.parametrize(
        ("error", "failure", "transient", "status", "detail"),
        [
            (ssl.SSLError(1, "no cipher"), Failure.UNREACHABLE, False, None, "TLS failed: no cipher."),
            (OSError("refused"), Failure.UNREACHABLE, True, None, "The connection failed: refused."),
            (OSError(), Failure.UNREACHABLE, True, None, "The connection failed: OSError."),
            (
                aiohttp.ClientResponseError(REQUEST, (), message="bad chunk"),
                *(Failure.INVALID, False, None, "The server's answer is not HTTP: bad chunk."),
            ),
            (
                aiohttp.WSServerHandshakeError(REQUEST, (), status=404),
                *(Failure.HTTP_ERROR, False, 404, "It answered 404 and opened no websocket."),
            ),
            (
                aiohttp.WSServerHandshakeError(REQUEST, (), status=503),
                *(Failure.HTTP_ERROR, True, 503, "It answered 503 and opened no websocket."),
            ),
        ],
    )
    def test_are_explained_by_the_kind_of_error(
        self, error: Exception, failure: Failure, transient: bool, status: int | None, detail: str
    ):
        found = _explained(error)
        assert (found.failure, found.transient, found.status) == (failure, transient, status)
        assert (found.detail, str(found)) == (detail, detail)

    def test_are_found_behind_the_error_that_was_raised(self):
        error = OSError("no connection")
        error.__cause__ = ssl.SSLError(1, "no cipher")
        assert _explained(error).detail.startswith("TLS failed")


class TestHttpByOwner:
    async def test_lets_the_operators_urls_alone_into_the_operators_networks(self):
        http = HttpByOwner(allowed=("10.1.0.0/16",), operator=("127.0.0.0/8",))
        assert await http.of(None).resolver.addresses_of("127.0.0.1", 80) == ["127.0.0.1"]
        for team in (None, "red"):
            assert await http.of(team).resolver.addresses_of("10.1.0.1", 80) == ["10.1.0.1"]
        with pytest.raises(AddressNotAllowed):
            await http.of("red").resolver.addresses_of("127.0.0.1", 80)

    async def test_closes_both_clients(self):
        http = HttpByOwner(allowed=(), operator=())
        async with http:
            sessions = [http.of(team)._session for team in (None, "red")]
            assert [session is not None and session.closed for session in sessions] == [False, False]
        assert [session is not None and session.closed for session in sessions] == [True, True]


class TestUrls:
    @pytest.mark.parametrize(
        ("url", "host", "port", "is_tls", "target", "authority"),
        [
            ("http://A.example", "a.example", 80, False, "/", "a.example"),
            ("HTTPS://a.example/b?c=d", "a.example", 443, True, "/b?c=d", "a.example"),
            ("http://a.example:80?c", "a.example", 80, False, "/?c", "a.example"),
            ("http://a.example:443/", "a.example", 443, False, "/", "a.example:443"),
            ("https://a.example:80/", "a.example", 80, True, "/", "a.example:80"),
            ("http://a.example:1/", "a.example", 1, False, "/", "a.example:1"),
            ("http://a.example:65535/", "a.example", 65_535, False, "/", "a.example:65535"),
            ("http://8.8.8.8/", "8.8.8.8", 80, False, "/", "8.8.8.8"),
            ("http://[2600:0::1]/", "2600::1", 80, False, "/", "[2600::1]"),
            ("http://[2600::1]:81/", "2600::1", 81, False, "/", "[2600::1]:81"),
        ],
    )
    def test_are_read_in_parts(self, url: str, host: str, port: int, is_tls: bool, target: str, authority: str):
        read = read_url(url, HTTP)
        assert (read.host, read.port, read.is_tls) == (host, port, is_tls)
        assert (read.target, read.authority) == (target, authority)

    @pytest.mark.parametrize(
        ("url", "reason"),
        [
            ("ftp://a/", "it must begin with http:// or https:// and a host"),
            ("ws://a/", "it must begin with http:// or https:// and a host"),
            ("http://a/#b", "it has a fragment"),
            ("http://user@a/", "it holds a user or a password"),
            ("http://a:0/", "its port 0 must be from 1"),
            ("http://a:65536/", "its port 65536 must be from 1"),
            ("http://a:123456/", "its host must be a name or an address, and its port a number"),
            ("http://[::g]/", "its host must be a name or an address"),
            ("http://[1:2]/", "[1:2] is not an IPv6 address"),
            ("http://127.1/", "127.1 is not a canonical IPv4 address"),
            ("http://a.0x7f/", "a.0x7f is not a canonical IPv4 address"),
            ("http://a..b/", "a part of its host is empty, too long"),
        ],
    )
    def test_are_refused_with_the_reason(self, url: str, reason: str):
        with pytest.raises(UrlNotUsable) as refused:
            read_url(url, HTTP)
        assert str(refused.value.facts["reason"]).startswith(reason)

    def test_have_hosts_of_253_characters_and_parts_of_63(self):
        parts = [63 * "a", 63 * "b", 63 * "c", 61 * "d"]
        assert read_url(f"http://{'.'.join(parts)}/", HTTP).host == ".".join(parts)
        for host, reason in (
            (".".join([*parts[:3], 62 * "d"]), "longer than 253"),
            (64 * "a", "a part of its host is empty, too long"),
        ):
            with pytest.raises(UrlNotUsable, match=reason):
                read_url(f"http://{host}/", HTTP)

    def test_have_the_port_of_their_scheme_or_one_that_is_given_for_them(self):
        given = [("ws://a", None), ("wss://a", None), ("ws://a", 7), ("ws://a:8", 7)]
        read = [read_url(url, SOCKET, default_port=port) for url, port in given]
        assert [each.port for each in read] == [80, 443, 7, 8]
        assert [each.authority for each in read] == ["a", "a", "a:7", "a:8"]


class TestCheckingResolver:
    async def test_an_allowed_range_does_not_open_others(self):
        resolver = CheckingResolver(networks(["10.1.0.0/16"]))
        assert await resolver.addresses_of("10.1.2.3", 80) == ["10.1.2.3"]
        for other in ("10.2.0.1", "127.0.0.1", "::1", "169.254.169.254"):
            with pytest.raises(AddressNotAllowed, match="may not be called"):
                await resolver.addresses_of(other, 80)


def _http() -> GuardedHttp:
    return GuardedHttp(CheckingResolver(LOOPBACK))
