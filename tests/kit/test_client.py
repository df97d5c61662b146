import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import respx
import stamina

from spotthebot.kit.client import PeerRefused, PeerUnavailable, ServiceClient
from spotthebot.kit.tracing import continue_trace, outgoing_traceparent
from spotthebot.suite.supervision.sockets import bind
from tests.kit.conftest import Edge

Fault = httpx.Response | Exception
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
def faults() -> Iterator[respx.Router]:
    with respx.mock(base_url=BASE) as router:
        yield router


@pytest.fixture
async def peer() -> AsyncIterator[ServiceClient]:
    async with ServiceClient("peer", BASE, "key") as client:
        yield client


@pytest.fixture
def at_once() -> Iterator[None]:
    """Retry without waiting, as often as ever."""
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


@pytest.fixture
def waits() -> Iterator[list[float]]:
    """The seconds that were waited before each new attempt."""
    noted: list[float] = []
    stamina.instrumentation.set_on_retry_hooks([lambda details: noted.append(details.wait_for)])
    yield noted
    stamina.instrumentation.set_on_retry_hooks(None)


@pytest.mark.usefixtures("at_once")
class TestRetries:
    @pytest.mark.parametrize(
        "fault", [*map(httpx.Response, (429, 502, 503, 504)), httpx.ConnectError("gone"), httpx.ReadTimeout("slow")]
    )
    async def test_a_read_is_tried_again(self, faults: respx.Router, peer: ServiceClient, fault: Fault):
        route = faults.get("/a")
        route.side_effect = [fault, httpx.Response(200, json={"n": 1})]
        assert await peer.get("/a") == {"n": 1}
        assert route.call_count == 2

    async def test_a_put_is_tried_again(self, faults: respx.Router, peer: ServiceClient):
        route = faults.put("/a")
        route.side_effect = [httpx.Response(503), httpx.Response(204)]
        assert await peer.put("/a", {"n": 1}) is None
        assert [call.request.content for call in route.calls] == [b'{"n": 1}'] * 2

    @pytest.mark.parametrize("fault", [httpx.Response(503), httpx.ConnectError("gone"), httpx.ReadTimeout("slow")])
    async def test_a_post_without_a_key_is_never_repeated(
        self, faults: respx.Router, peer: ServiceClient, fault: Fault
    ):
        route = faults.post("/a")
        route.side_effect = [fault, httpx.Response(201, json={})]
        with pytest.raises((PeerRefused, PeerUnavailable)):
            await peer.post("/a", {})
        assert route.call_count == 1

    async def test_a_post_with_a_key_is_repeated_under_the_same_key(self, faults: respx.Router, peer: ServiceClient):
        route = faults.post("/a")
        route.side_effect = [httpx.ReadTimeout("slow"), httpx.Response(503), httpx.Response(201, json={})]
        await peer.post("/a", {}, idempotency_key="k1")
        assert [call.request.headers["idempotency-key"] for call in route.calls] == ["k1"] * 3

    @pytest.mark.parametrize("status", [400, 401, 404, 409, 422, 500])
    async def test_what_will_not_get_better_is_not_repeated(
        self, faults: respx.Router, peer: ServiceClient, status: int
    ):
        route = faults.get("/a").mock(return_value=httpx.Response(status))
        with pytest.raises(PeerRefused):
            await peer.get("/a")
        assert route.call_count == 1

    @pytest.mark.parametrize(("kind", "calls"), [("peer-refused", 1), ("something-else", 2)])
    async def test_a_502_is_not_repeated_where_a_peer_of_the_peer_refused(
        self, faults: respx.Router, peer: ServiceClient, kind: str, calls: int
    ):
        route = faults.get("/a")
        bad_gateway = httpx.Response(502, json=PROBLEM | {"type": f"urn:spotthebot:problem:{kind}", "status": 502})
        route.side_effect = [bad_gateway, httpx.Response(200, json={})]
        with contextlib.suppress(PeerRefused):
            await peer.get("/a")
        assert route.call_count == calls

    async def test_the_last_answer_is_passed_on(self, faults: respx.Router, peer: ServiceClient):
        route = faults.get("/a").mock(return_value=httpx.Response(503, json=PROBLEM | {"status": 503}))
        with pytest.raises(PeerRefused, match="peer answered 503 to GET /a: No"):
            await peer.get("/a")
        assert route.call_count > 2

    async def test_a_peer_that_stays_away_is_unavailable(self, peer: ServiceClient, faults: respx.Router):
        faults.get("/a").mock(side_effect=httpx.ConnectError("gone"))
        with pytest.raises(PeerUnavailable, match=r"peer does not answer: gone\."):
            await peer.get("/a")


class TestRetryAfter:
    async def test_waits_as_long_as_it_says(self, faults: respx.Router, peer: ServiceClient, waits: list[float]):
        answers = [httpx.Response(429, headers={"Retry-After": seconds}) for seconds in ("0", "1")]
        faults.get("/a").side_effect = [*answers, httpx.Response(200, json=1)]
        assert await peer.get("/a") == 1
        assert waits == [0.0, 1.0]

    async def test_backs_off_as_usual_where_the_header_is_a_date(
        self, faults: respx.Router, peer: ServiceClient, waits: list[float]
    ):
        answers = httpx.Response(503, headers={"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"})
        faults.get("/a").side_effect = [answers, httpx.Response(200, json=1)]
        assert await peer.get("/a") == 1
        assert len(waits) == 1

    async def test_does_not_wait_for_longer_than_its_own_caller_would(
        self, faults: respx.Router, peer: ServiceClient, waits: list[float]
    ):
        faults.get("/a").mock(return_value=httpx.Response(503, headers={"Retry-After": "3600"}))
        with pytest.raises(PeerRefused):
            await peer.get("/a")
        assert waits == []


class TestRefusal:
    async def test_carries_what_the_peer_said(self, faults: respx.Router, peer: ServiceClient):
        faults.get("/a").mock(return_value=httpx.Response(422, json=PROBLEM))
        with pytest.raises(PeerRefused) as caught:
            await peer.get("/a")
        assert caught.value.status == 422
        assert caught.value.faults == PROBLEM["errors"]
        assert str(caught.value) == "peer answered 422 to GET /a: No.; /a/0: is odd"

    @pytest.mark.parametrize(
        ("answer", "detail"),
        [
            (httpx.Response(500, text="<h1>Oh</h1>"), "<h1>Oh</h1>"),
            (httpx.Response(500), "Internal Server Error"),
            (httpx.Response(500, json=["odd"]), '["odd"]'),
            (httpx.Response(500, json={"detail": "x", "errors": ["odd"]}), '{"detail":"x","errors":["odd"]}'),
            (httpx.Response(500, text="{braces}"), "{braces}"),
            (httpx.Response(500, text="long" * 1000), "long" * 50),
        ],
    )
    async def test_makes_do_with_what_is_no_problem_document(
        self, faults: respx.Router, peer: ServiceClient, answer: httpx.Response, detail: str
    ):
        faults.get("/a").mock(return_value=answer)
        with pytest.raises(PeerRefused) as caught:
            await peer.get("/a")
        assert str(caught.value) == f"peer answered 500 to GET /a: {detail}"
        assert caught.value.faults == []


class TestCalls:
    async def test_carry_the_key(self, faults: respx.Router, peer: ServiceClient):
        route = faults.get("/a").mock(return_value=httpx.Response(200, json=1))
        await peer.get("/a")
        assert route.calls[0].request.headers["authorization"] == "Bearer key"

    async def test_carry_the_trace_on(self, faults: respx.Router, peer: ServiceClient):
        route = faults.get("/a").mock(return_value=httpx.Response(200, json=1))
        continue_trace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")  # the example of W3C Trace Context
        await peer.get("/a")
        assert route.calls[0].request.headers["traceparent"] == outgoing_traceparent()
        assert "-4bf92f3577b34da6a3ce929d0e0e4736-" in outgoing_traceparent()

    async def test_walk_all_pages(self, edge: Edge):
        names = [str(number) for number in range(5)]
        edge.fill(names)
        async with ServiceClient("things", edge.url, await edge.keys.make("admin")) as things:
            assert [item["name"] async for item in things.pages("/things", {"limit": 2})] == names


class TestStreams:
    async def test_all_rows_come_over(self, edge: Edge):
        names = [str(number) for number in range(1201)]  # more than two batches of 500
        edge.fill(names)
        async with ServiceClient("things", edge.url, await edge.keys.make("admin")) as things:
            assert [line["name"] async for line in things.lines("/things/stream")] == names

    async def test_one_that_breaks_off_at_the_peer_is_no_success(self, edge: Edge):
        edge.fill([*map(str, range(700)), "broken"])
        seen = []
        async with ServiceClient("things", edge.url, await edge.keys.make("admin")) as things:
            with pytest.raises(PeerUnavailable):
                async for line in things.lines("/things/stream", {"breaking": True}):
                    seen.append(line["name"])  # noqa: PERF401 - what came before the error counts
        assert seen == [str(number) for number in range(500)]

    async def test_one_cut_short_on_the_wire_is_no_success(self):
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

    async def test_a_refusal_is_raised_as_one(self, edge: Edge):
        async with ServiceClient("things", edge.url, await edge.keys.make("analyst")) as things:
            with pytest.raises(PeerRefused, match="role analyst"):
                [line async for line in things.lines("/things/stream")]
