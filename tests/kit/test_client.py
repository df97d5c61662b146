import asyncio

import httpx
import pytest
import respx

from spotthebot.kit.client import PeerRefused, PeerUnavailable, ServiceClient
from spotthebot.kit.tracing import continue_trace
from spotthebot.suite.supervision.sockets import bind

BASE = "http://peer.example"
PROBLEM = {
    "type": "urn:spotthebot:problem:x",
    "title": "X",
    "status": 422,
    "detail": "No.",
    "instance": "/a",
    "errors": [{"pointer": "/a/0", "parameter": None, "detail": "is odd"}],
}


@pytest.fixture
def faults():
    with respx.mock(base_url=BASE) as router:
        yield router


@pytest.fixture
async def peer():
    async with ServiceClient("peer", BASE, "key") as client:
        yield client


class TestRetries:
    @pytest.mark.parametrize("fault", [httpx.Response(503), httpx.Response(502), httpx.ConnectError("gone")])
    async def test_a_read_is_tried_again(self, faults: respx.Router, peer: ServiceClient, fault: object):
        route = faults.get("/a")
        route.side_effect = [fault, httpx.Response(200, json={"n": 1})]
        assert await peer.get("/a") == {"n": 1}
        assert route.call_count == 2

    async def test_a_post_without_a_key_is_never_repeated(self, faults: respx.Router, peer: ServiceClient):
        route = faults.post("/a").mock(return_value=httpx.Response(503))
        with pytest.raises(PeerRefused):
            await peer.post("/a", {})
        assert route.call_count == 1

    async def test_a_post_with_a_key_is_repeated_under_the_same_key(self, faults: respx.Router, peer: ServiceClient):
        route = faults.post("/a")
        route.side_effect = [httpx.ReadTimeout("slow"), httpx.Response(201, json={})]
        await peer.post("/a", {}, idempotency_key="k1")
        assert [call.request.headers["idempotency-key"] for call in route.calls] == ["k1", "k1"]

    async def test_waits_as_long_as_it_is_told(self, faults: respx.Router, peer: ServiceClient):
        route = faults.get("/a")
        route.side_effect = [httpx.Response(429, headers={"Retry-After": "0"}), httpx.Response(200, json=1)]
        assert await peer.get("/a") == 1

    async def test_what_will_not_get_better_is_not_repeated(self, faults: respx.Router, peer: ServiceClient):
        route = faults.get("/a").mock(return_value=httpx.Response(422, json=PROBLEM))
        with pytest.raises(PeerRefused) as caught:
            await peer.get("/a")
        assert route.call_count == 1
        assert caught.value.status == 422
        assert caught.value.faults == PROBLEM["errors"]
        assert str(caught.value) == "peer answered 422 to GET /a: No.; /a/0: is odd"


class TestTrace:
    async def test_the_trace_goes_on(self, faults: respx.Router, peer: ServiceClient):
        route = faults.get("/a").mock(return_value=httpx.Response(200, json=1))
        continue_trace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")  # the example of W3C Trace Context
        await peer.get("/a")
        version, trace, span, flags = route.calls[0].request.headers["traceparent"].split("-")
        assert (version, trace, flags) == ("00", "4bf92f3577b34da6a3ce929d0e0e4736", "01")
        assert span != "00f067aa0ba902b7"

    @pytest.mark.parametrize(
        "header", [None, "", "nonsense", f"00-{'0' * 32}-{'1' * 16}-01", f"ff-{'1' * 32}-{'1' * 16}-01"]
    )
    def test_a_malformed_trace_begins_a_new_one(self, header: str | None):
        trace = continue_trace(header)
        assert int(trace.trace_id, 16)
        assert trace.trace_id != "1" * 32


class TestStreams:
    async def test_a_stream_cut_short_is_no_success(self):
        async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"n":1}\n\r\n')
            await writer.drain()
            writer.close()

        sock = bind("127.0.0.1", 0)
        server = await asyncio.start_server(half, sock=sock)
        seen = []
        async with server, ServiceClient("peer", f"http://127.0.0.1:{sock.getsockname()[1]}", "key") as client:
            with pytest.raises(PeerUnavailable):
                async for line in client.lines("/a"):
                    seen.append(line)  # noqa: PERF401 - what came before the error counts
        assert seen == [{"n": 1}]
