"""Addresses that a stranger's URL must not lead to: every way to write one, on every protocol that takes a URL."""

import asyncio
import ipaddress
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from spotthebot.bots.outbound import BotHttp
from spotthebot.bots.protocols.remote import remote_speaker
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.replies import Fault
from spotthebot.contracts.bots.protocols import (
    OpenAIProtocol,
    ParlaiProtocol,
    Protocol,
    TritonProtocol,
    WebhookProtocol,
)
from spotthebot.contracts.bots.replies import ReplyFailure
from spotthebot.kit.outbound.addresses import FORBIDDEN, networks, refusal_of
from spotthebot.kit.outbound.errors import CallFailed
from spotthebot.kit.outbound.http import GuardedHttp
from spotthebot.kit.outbound.resolver import CheckingResolver
from tests.attacks.hostile_names import NAMES, PUBLIC, REBINDING, HostileNetwork, hostile_network
from tests.factories.bot_servers import Talk, never_answers, read_request, says, webhook
from tests.factories.running_suite import RunningSuite

LOOPBACK = [
    *("127.0.0.1", "127.1", "127.0.1", "127.127.127.127", "2130706433", "017700000001", "0177.0.0.1", "0x7f000001"),
    *("0x7F000001", "0x7f.0.0.1", "0x7f.1", "127.000.000.001", "127.0.0.1.", "0", "0x0"),
    "0.0.0.0",  # noqa: S104 - asked for, not listened on
    *("[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]"),
    *("[::7f00:1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]"),
    *("[2600::5efe:7f00:1]", "[2600::200:5efe:127.0.0.1]", "[2001:0:7f00:1::]", "[::1%25lo]"),
]
INTERNAL = [
    *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "169.254.169.254", "2852039166"),
    *("0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "192.0.0.1", "192.0.0.8", "192.0.0.192", "192.0.2.1"),
    *("192.31.196.1", "192.52.193.1", "192.88.99.1", "192.175.48.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"),
    *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *("[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fe80::1%25eth0]", "[fec0::1]", "[feff::1]", "[ff02::1]"),
    *("[ff0e::1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]", "[2002:a9fe:a9fe::1]", "[2001::1]", "[2001:2::1]"),
    *("[2001:10::1]", "[2001:20::1]", "[2001:db8::1]", "[3fff::1]", "[3fff:fff::1]", "[5f00::1]", "[100::1]"),
    *("[100:0:0:1::1]", "[2620:4f:8000::1]", "[4000::1]", "[::ffff:0:10.0.0.1]", "[::ffff:10.0.0.1]"),
]
TRICKS = [
    *(f"{PUBLIC}@127.0.0.1", "user:word@127.0.0.1", "127.0.0.1#@example.org", "example.org\\@127.0.0.1"),
    *("%31%32%37.0.0.1", "127.0.0.1%00.example.org", "[::1].example.org", "127.0.0.1:80:80", "[v1.fe80]", "①②⑦.0.0.1"),
    *("127。0。0。1", "localhost%2eexample.org", " 127.0.0.1", "127.0.0.1\t", "example.org\r\nHost: 127.0.0.1"),
]
"""Authorities in which two readers of URLs may see two hosts."""
FORMS = [*LOOPBACK, *INTERNAL, *NAMES, *TRICKS]

PROTOCOLS: dict[str, tuple[type[Any], str, dict[str, str], str]] = {
    "webhook": (WebhookProtocol, "url", {"kind": "webhook"}, "http"),
    "webhook over TLS": (WebhookProtocol, "url", {"kind": "webhook"}, "https"),
    "openai": (OpenAIProtocol, "base_url", {"kind": "openai", "model": "m"}, "http"),
    "parlai over HTTP": (ParlaiProtocol, "url", {"kind": "parlai"}, "http"),
    "parlai over a websocket": (ParlaiProtocol, "url", {"kind": "parlai", "service": "websocket_chat"}, "ws"),
    "triton over HTTP": (TritonProtocol, "url", {"kind": "triton", "model": "m", "transport": "http"}, "http"),
    "triton over gRPC": (TritonProtocol, "url", {"kind": "triton", "model": "m"}, "http"),
}
"""Every protocol that takes a URL: its contract, the field of the URL, the other fields, and the URL's scheme."""


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileNetwork]:
    with hostile_network(monkeypatch) as made:
        yield made


def protocol_at(name: str, authority: str) -> Protocol:
    """Return a protocol with a URL, past the checks of its contract: the connector has to stand alone."""
    contract, field, fields, scheme = PROTOCOLS[name]
    plain: Protocol = contract.model_validate(fields | {field: f"{scheme}://bot.example.org/"})
    return plain.model_copy(update={field: f"{scheme}://{authority}/"})


async def _ask(protocol: Protocol, allowed: list[str]) -> Fault:
    async with BotHttp(CheckingResolver(networks(allowed))) as http:
        speaker = remote_speaker(protocol, None, http)
        assert speaker is not None
        try:
            with pytest.raises(Fault) as failed:
                async with asyncio.timeout(20):
                    await speaker.ask(Context(("Hello!",), 0), "key")
        finally:
            await speaker.close()
    return failed.value


class TestConnector:
    def test_is_tried_with_more_than_sixty_forms(self):
        assert len(set(FORMS)) == len(FORMS) > 100

    @pytest.mark.parametrize("name", PROTOCOLS)
    async def test_calls_no_forbidden_address_in_any_form(self, network: HostileNetwork, name: str):
        for form in FORMS:
            fault = await _ask(protocol_at(name, form), [])
            assert fault.failure is ReplyFailure.UNREACHABLE, form
            assert not fault.transient, form
            assert any(words in fault.detail for words in ("may not be called", "can't be called")), (
                form,
                fault.detail,
            )
            assert network.dialled == [], form

    @pytest.mark.parametrize("name", PROTOCOLS)
    async def test_calls_no_name_whose_answer_changes(self, network: HostileNetwork, name: str):
        network.answers[REBINDING] = [[PUBLIC], ["127.0.0.1"], [PUBLIC, "10.0.0.1"]]
        resolver = CheckingResolver(())
        await resolver.check_url(f"http://{REBINDING}/")
        for _ in range(2):
            assert "may not be called" in (await _ask(protocol_at(name, REBINDING), [])).detail
        assert network.dialled == []

    @pytest.mark.parametrize("name", PROTOCOLS)
    async def test_calls_a_public_address(self, network: HostileNetwork, name: str):
        """The forms above are refused for their addresses, and not because nothing can be called."""
        network.answers["bot.example.org"] = [[PUBLIC]]
        for authority in ("bot.example.org", PUBLIC, "bot.example.org:9000", "BOT.example.org"):
            network.dialled.clear()
            fault = await _ask(protocol_at(name, authority), [])
            assert fault.detail == "No server answers at the bot's URL."
            assert [each for each in network.dialled if PUBLIC not in each] == []
            assert network.dialled != []

    async def test_sends_no_event_to_a_forbidden_address(self, network: HostileNetwork):
        network.answers[REBINDING] = [["127.0.0.1"]]
        async with GuardedHttp(CheckingResolver(())) as http:
            for form, scheme in itertools.product([*FORMS, REBINDING], ("http", "https")):
                with pytest.raises(CallFailed, match=r"may not be called|can't be called"):
                    await http.post(f"{scheme}://{form}/", b"{}", {})
        assert network.dialled == []


class TestForbiddenNetworks:
    """The registries of IANA for special purposes (RFC 6890), in the edition of 2025-10-09."""

    IPV4 = (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
        *("192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32"),
        *("192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24"),
        *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32"),
    )
    IPV6 = (
        *("::1/128", "::/128", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64"),
        *("2001::/23", "2001::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32"),
        *("2001:4:112::/48", "2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16"),
        *("2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10"),
    )
    BESIDE = ("224.0.0.0/4", "::/96", "::ffff:0:0:0/96", "fec0::/10", "ff00::/8", "4000::/3", "8000::/1")

    @pytest.mark.parametrize("text", [*IPV4, *IPV6, *BESIDE])
    def test_are_refused_from_their_first_address_to_their_last(self, text: str):
        network = ipaddress.ip_network(text)
        for address in {network[0], network[-1], network[network.num_addresses // 2]}:
            assert refusal_of(str(address), ()) is not None

    @pytest.mark.parametrize("text", sorted({*IPV4, *IPV6} - {"240.0.0.0/4", "255.255.255.255/32"}))
    def test_end_where_the_next_addresses_are_public(self, text: str):
        """The address after a network is refused by its own network only."""
        listed = [ipaddress.ip_network(each) for each in [*self.IPV4, *self.IPV6, *self.BESIDE, "168.63.129.16/32"]]
        after = ipaddress.ip_network(text)[-1] + 1
        outside = after.version == 6 and after not in ipaddress.ip_network("2000::/3")
        is_listed = any(after.version == each.version and after in each for each in listed)
        assert (refusal_of(str(after), ()) is not None) is (is_listed or outside)

    def test_do_not_depend_on_what_python_calls_global(self, monkeypatch: pytest.MonkeyPatch):
        for kind in (ipaddress.IPv4Address, ipaddress.IPv6Address):
            monkeypatch.setattr(kind, "is_global", True)
            monkeypatch.setattr(kind, "is_private", False)
        for text, _ in FORBIDDEN:
            assert refusal_of(str(ipaddress.ip_network(text)[1 if "/32" not in text and "/128" not in text else 0]), ())

    def test_are_opened_one_by_one_and_never_through_an_address_inside_another(self):
        allowed = networks(["64:ff9b::/96", "10.1.0.0/16"])
        assert refusal_of("64:ff9b::8.8.8.8", allowed) is None
        assert refusal_of("64:ff9b::10.1.2.3", allowed) is None
        assert refusal_of("64:ff9b::127.0.0.1", allowed) is not None
        assert refusal_of("::ffff:10.1.2.3", allowed) is not None
        assert refusal_of("2002:0a01:0203::1", allowed) is not None


@asynccontextmanager
async def _server(talk: Talk, address: str = "127.0.0.2") -> AsyncIterator[int]:
    """Serve raw bytes at an address beside 127.0.0.1, and give the port."""
    running: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            running.add(task)
        try:
            await talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, address, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


WITHOUT_TLS = [name for name in PROTOCOLS if "TLS" not in name]


class TestRedirects:
    @pytest.mark.parametrize("name", WITHOUT_TLS)
    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    async def test_are_followed_nowhere(self, name: str, status: int):
        """The server's own address may be called, the one that it redirects to may not."""
        called = 0

        async def note(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            nonlocal called
            called += 1

        async with _server(note, "127.0.0.1") as trap:
            forms = [f"127.0.0.1:{trap}", f"[::ffff:127.0.0.1]:{trap}", f"localhost:{trap}"]
            for target in [f"{scheme}://{form}/" for form in forms for scheme in ("http", "ws")]:

                async def redirect(
                    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, to: str = target
                ) -> None:
                    await reader.readuntil(b"\r\n\r\n")
                    head = f"HTTP/1.1 {status} Elsewhere\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
                    writer.write(head.encode())
                    await writer.drain()

                async with _server(redirect) as port:
                    fault = await _ask(protocol_at(name, f"127.0.0.2:{port}"), ["127.0.0.2/32"])
                if "gRPC" not in name:  # which takes HTTP/1.1 for no answer
                    assert (fault.failure, f"redirects ({status})" in fault.detail) == (ReplyFailure.HTTP_ERROR, True)
        assert called == 0

    @pytest.mark.parametrize("name", [name for name in WITHOUT_TLS if "gRPC" not in name])
    async def test_to_the_same_server_are_not_followed_either(self, name: str):
        asked = 0

        async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal asked
            asked += 1
            await says(b"", headers=b"Location: /again\r\n", status=b"302 Found")(reader, writer)

        async with _server(redirect) as port:
            await _ask(protocol_at(name, f"127.0.0.2:{port}"), ["127.0.0.2/32"])
        assert asked == 1


async def _banner(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    await writer.drain()
    await asyncio.sleep(0.2)


async def _hangs_up(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    return


async def _database(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(b"-ERR unknown command 'POST'\r\n")
    await writer.drain()


OPEN: dict[str, Talk] = {
    "silent": never_answers,
    "a banner": _banner,
    "hangs up": _hangs_up,
    "another protocol": _database,
}


class TestPorts:
    """What a stranger learns of a machine that its bot may be on."""

    @pytest.mark.parametrize("protocol", WITHOUT_TLS)
    async def test_open_and_closed_ports_look_the_same_in_reports(self, suite: RunningSuite, protocol: str):
        role = "admin" if "triton" in protocol else "team"
        owner = await suite.client("bots", role, team="us" if role == "team" else None)
        _, field, fields, scheme = PROTOCOLS[protocol]
        reports = {}
        for name, talk in {"closed": None, **OPEN}.items():
            async with _server(talk or _hangs_up) as port:
                at = {field: f"{scheme}://127.0.0.2:{port if talk else 9}/"}
                bot_in = webhook("") | {"name": name, "protocol": fields | at, "limits": {"timeout_seconds": 0.5}}
                answer = await owner.post("/v1/bots", json=bot_in)
            assert answer.status_code == 201, answer.text
            out = answer.json()
            reply = await owner.post(f"/v1/bots/{out['id']}/replies", json={"contexts": [{"turns": ["Hello!"]}]})
            shown = {each: out[each] for each in ("status", "status_reason", "probe")}
            reports[name] = shown | {"replies": [each | {"latency_ms": 0} for each in reply.json()["replies"]]}
        assert [name for name, report in reports.items() if report != reports["closed"]] == []

    async def test_open_and_closed_ports_look_the_same_to_subscribers(self):
        failures = {}
        for name, talk in {"closed": None, **OPEN}.items():
            if name == "silent":
                continue  # its time is up, which takes as long as everybody knows
            async with (
                _server(talk or _hangs_up) as port,
                GuardedHttp(CheckingResolver(networks(["127.0.0.0/8"]))) as http,
            ):
                with pytest.raises(CallFailed) as failed:
                    await http.post(f"http://127.0.0.2:{port if talk else 9}/", b"{}", {})
            failures[name] = (failed.value.failure, failed.value.detail, failed.value.status, failed.value.transient)
        assert len(set(failures.values())) == 1


class TestNames:
    async def test_a_strangers_url_does_not_show_what_our_names_stand_for(self, network: HostileNetwork):
        network.answers["db.corp"] = [["10.11.12.13"]]
        fault = await _ask(protocol_at("webhook", "db.corp"), [])
        assert "may not be called" in fault.detail
        assert "10.11.12.13" not in fault.detail
        assert "private" not in fault.detail

    async def test_a_name_that_never_resolves_is_given_up(self, monkeypatch: pytest.MonkeyPatch):
        async def never(*_: Any, **__: Any) -> None:
            await asyncio.sleep(60)

        monkeypatch.setattr("spotthebot.kit.outbound.resolver._SECONDS", 0.05)
        monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", never)
        assert (
            await _ask(protocol_at("webhook", "slow.example.org"), [])
        ).detail == "No server answers at the bot's URL."
