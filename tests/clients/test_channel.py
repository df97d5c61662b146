"""How requests are made, on a wire that answers as each test wants. Both kinds of clients run the same coroutines."""

import contextlib
from uuid import UUID

import httpx
import pytest
import respx

from spotthebot.clients import (
    AsyncAnnotation,
    AsyncBots,
    AsyncConversations,
    Bots,
    Conflict,
    Conversations,
    Forbidden,
    Invalid,
    NotFound,
    PeerFailed,
    PeerRefused,
    PeerUnavailable,
    ProblemField,
    RateLimited,
    Retries,
    Unauthenticated,
    UnexpectedAnswer,
)
from spotthebot.contracts.bots.hosted_models import HostedModelIn
from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotChangesIn, BotIn, SecretIn
from spotthebot.contracts.bots.replies import RepliesIn
from spotthebot.kit.telemetry.tracing import continued_trace, outgoing_headers
from tests.factories.wire import AT_ONCE, BASE, answering

Fault = httpx.Response | Exception
BOT = UUID(int=1)
OK = {"status": "ok"}
PROBLEM = {
    "type": "urn:spotthebot:problem:x",
    "title": "X",
    "status": 422,
    "detail": "No.",
    "instance": "/healthz",
    "errors": [{"pointer": "/a/0", "parameter": None, "detail": "is odd"}],
}


class TestRetries:
    @pytest.mark.parametrize(
        "fault", [*map(httpx.Response, (429, 502, 503, 504)), httpx.ConnectError("gone"), httpx.ReadTimeout("slow")]
    )
    async def test_a_read_is_tried_again(self, wire: respx.Router, bots: AsyncBots, blocking_bots: Bots, fault: Fault):
        route = wire.get("/healthz")
        route.side_effect = [fault, httpx.Response(200, json=OK)] * 2
        assert (await bots.health()).status == "ok"
        assert blocking_bots.health().status == "ok"
        assert route.call_count == 4

    async def test_a_put_is_tried_again_with_the_same_body(self, wire: respx.Router, bots: AsyncBots):
        route = wire.put("/v1/hosted-models/gpt/files/config.json")
        uploaded = {"name": "config.json", "bytes": 2, "sha256": "0"}
        route.side_effect = [httpx.Response(503), httpx.Response(200, json=uploaded)]
        assert (await bots.upload_model_file("gpt", "config.json", b"{}")).bytes == 2
        assert [call.request.content for call in route.calls] == [b"{}"] * 2

    async def test_a_body_that_can_be_read_only_once_is_never_sent_twice(
        self, wire: respx.Router, bots: AsyncBots, blocking_bots: Bots
    ):
        route = wire.put("/v1/hosted-models/gpt/files/a").mock(return_value=httpx.Response(503))
        with pytest.raises(PeerFailed):
            await bots.upload_model_file("gpt", "a", iter([b"a", b"b"]))
        with pytest.raises(PeerFailed):
            blocking_bots.upload_model_file("gpt", "a", iter([b"a", b"b"]))
        assert [call.request.content for call in route.calls] == [b"ab"] * 2

    @pytest.mark.parametrize("fault", [httpx.Response(503), httpx.ConnectError("gone"), httpx.ReadTimeout("slow")])
    async def test_a_post_without_a_key_is_never_repeated(self, wire: respx.Router, bots: AsyncBots, fault: Fault):
        route = wire.post(f"/v1/bots/{BOT}/replies")
        route.side_effect = [fault, httpx.Response(200, json={})]
        with pytest.raises((PeerRefused, PeerUnavailable)):
            await bots.reply(BOT, RepliesIn.model_construct(contexts=()))
        assert route.call_count == 1

    async def test_a_post_that_made_again_changes_nothing_is_repeated(self, wire: respx.Router):
        """A package that is submitted again answers the same."""
        route = wire.post(f"/v1/assignments/{BOT}/submit")
        route.side_effect = [httpx.RemoteProtocolError("gone"), httpx.Response(503), httpx.Response(409)]
        async with AsyncAnnotation(BASE, "k", retries=AT_ONCE) as annotation:
            with pytest.raises(Conflict):
                await annotation.submit_assignment(BOT)
        assert route.call_count == 3

    async def test_a_patch_without_a_key_is_never_repeated(self, wire: respx.Router, bots: AsyncBots):
        route = wire.patch(f"/v1/bots/{BOT}").mock(return_value=httpx.Response(503))
        with pytest.raises(PeerFailed):
            await bots.change_bot(BOT, BotChangesIn(description="x"))
        assert route.call_count == 1

    async def test_a_post_with_a_key_is_repeated_under_the_same_key(self, wire: respx.Router, bots: AsyncBots):
        route = wire.post("/v1/hosted-models")
        route.side_effect = [httpx.ReadTimeout("slow"), httpx.Response(503), httpx.Response(409)]
        with pytest.raises(Conflict):
            await bots.host_model(HostedModelIn(name="gpt"), idempotency_key="k1")
        assert [call.request.headers["idempotency-key"] for call in route.calls] == ["k1"] * 3

    async def test_a_post_whose_first_attempt_still_runs_is_repeated_for_its_answer(
        self, wire: respx.Router, bots: AsyncBots
    ):
        route = wire.post("/v1/hosted-models")
        route.side_effect = [httpx.Response(409, headers={"Retry-After": "0"}), httpx.Response(409)]
        with pytest.raises(Conflict):
            await bots.host_model(HostedModelIn(name="gpt"), idempotency_key="k1")
        assert route.call_count == 2

    @pytest.mark.parametrize("status", [400, 401, 404, 409, 422, 500])
    async def test_a_lasting_refusal_is_not_repeated(self, wire: respx.Router, bots: AsyncBots, status: int):
        route = wire.get("/healthz").mock(return_value=httpx.Response(status))
        with pytest.raises(PeerRefused):
            await bots.health()
        assert route.call_count == 1

    @pytest.mark.parametrize(("kind", "calls"), [("peer-refused", 1), ("something-else", 2)])
    async def test_a_502_is_not_repeated_where_a_peer_of_the_peer_refused(
        self, wire: respx.Router, bots: AsyncBots, kind: str, calls: int
    ):
        route = wire.get("/healthz")
        bad_gateway = httpx.Response(502, json=PROBLEM | {"type": f"urn:spotthebot:problem:{kind}"})
        route.side_effect = [bad_gateway, httpx.Response(200, json=OK)]
        with contextlib.suppress(PeerFailed):
            await bots.health()
        assert route.call_count == calls

    async def test_the_last_answer_is_passed_on(self, wire: respx.Router, bots: AsyncBots):
        route = wire.get("/healthz").mock(return_value=httpx.Response(503, json=PROBLEM))
        with pytest.raises(PeerFailed, match="bots answered 503 to GET /healthz: No"):
            await bots.health()
        assert route.call_count == AT_ONCE.attempts

    async def test_a_peer_that_stays_away_is_unavailable(
        self, wire: respx.Router, bots: AsyncBots, blocking_bots: Bots
    ):
        wire.get("/healthz").mock(side_effect=httpx.ConnectError("gone"))
        with pytest.raises(PeerUnavailable, match=r"bots does not answer: gone\."):
            await bots.health()
        with pytest.raises(PeerUnavailable, match=r"bots does not answer: gone\."):
            blocking_bots.health()

    async def test_a_stream_is_tried_again_before_it_begins(self, wire: respx.Router):
        route = wire.get(f"/v1/collections/{BOT}/speakers/stream")
        route.side_effect = [httpx.Response(503), httpx.Response(200, content=b"")] * 2
        async with AsyncConversations(BASE, "key", retries=AT_ONCE) as conversations:
            assert [each async for each in conversations.stream_speakers(BOT)] == []
        with Conversations(BASE, "key", retries=AT_ONCE) as conversations_too:
            assert list(conversations_too.stream_speakers(BOT)) == []
        assert route.call_count == 4

    def test_wait_longer_each_time_up_to_a_limit(self):
        waits = [Retries(jitter_seconds=0, attempts=8).wait_seconds(n, 0, None) for n in range(1, 9)]
        assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, None]

    def test_end_before_the_caller_would_have_given_up(self):
        assert Retries(jitter_seconds=0).wait_seconds(1, 44.7, None) == 0.2
        assert Retries(jitter_seconds=0).wait_seconds(1, 44.9, None) is None


class TestRetryAfter:
    async def test_is_waited_for(self, wire: respx.Router, caplog: pytest.LogCaptureFixture):
        limited = [httpx.Response(429, headers={"Retry-After": seconds}) for seconds in ("0", "1")]
        wire.get("/healthz").side_effect = [*limited, httpx.Response(200, json=OK)]
        with caplog.at_level("INFO", logger="spotthebot.clients"):
            async with AsyncBots(BASE, "key") as bots:
                assert (await bots.health()).status == "ok"
        assert [record.args[3] for record in caplog.records if isinstance(record.args, tuple)] == [0.0, 1.0]

    async def test_is_no_wait_where_it_is_a_date(self, wire: respx.Router, bots: AsyncBots):
        unavailable = httpx.Response(503, headers={"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"})
        wire.get("/healthz").side_effect = [unavailable, httpx.Response(200, json=OK)]
        assert (await bots.health()).status == "ok"

    async def test_is_not_waited_for_where_the_caller_would_have_given_up(self, wire: respx.Router, bots: AsyncBots):
        route = wire.get("/healthz")
        route.mock(return_value=httpx.Response(429, headers={"Retry-After": "3600"}))
        with pytest.raises(RateLimited) as caught:
            await bots.health()
        assert caught.value.retry_after_seconds == 3600
        assert route.call_count == 1


class TestRefusal:
    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            (400, Invalid),
            (401, Unauthenticated),
            (403, Forbidden),
            (404, NotFound),
            (409, Conflict),
            (413, Invalid),
            (418, PeerRefused),
            (422, Invalid),
            (500, PeerFailed),
        ],
    )
    async def test_has_the_type_of_its_status(
        self, wire: respx.Router, bots: AsyncBots, status: int, kind: type[PeerRefused]
    ):
        wire.get("/healthz").mock(return_value=httpx.Response(status))
        with pytest.raises(PeerRefused) as caught:
            await bots.health()
        assert type(caught.value) is kind
        assert caught.value.status == status

    async def test_carries_the_problem(self, wire: respx.Router, bots: AsyncBots):
        wire.get("/healthz").mock(return_value=httpx.Response(422, json=PROBLEM))
        with pytest.raises(Invalid) as caught:
            await bots.health()
        problem = caught.value.problem
        assert (problem.type, problem.title, problem.status) == ("urn:spotthebot:problem:x", "X", 422)
        assert problem.errors == (ProblemField("/a/0", None, "is odd"),)
        assert str(caught.value) == "bots answered 422 to GET /healthz: No.; /a/0: is odd"
        assert caught.value.detail == "This needs the service bots, which refused our request (422)."

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
    async def test_quotes_an_answer_that_is_no_problem_document(
        self, wire: respx.Router, bots: AsyncBots, answer: httpx.Response, detail: str
    ):
        wire.get("/healthz").mock(return_value=answer)
        with pytest.raises(PeerFailed) as caught:
            await bots.health()
        assert str(caught.value) == f"bots answered 500 to GET /healthz: {detail}"
        assert caught.value.problem.errors == ()


class TestRequests:
    async def test_carry_the_key(self, wire: respx.Router, bots: AsyncBots, blocking_bots: Bots):
        route = wire.get("/healthz").mock(return_value=httpx.Response(200, json=OK))
        await bots.health()
        blocking_bots.health()
        assert [call.request.headers["authorization"] for call in route.calls] == ["Bearer key"] * 2

    async def test_carry_the_trace_on(self, wire: respx.Router, bots: AsyncBots):
        route = wire.get("/healthz").mock(return_value=httpx.Response(200, json=OK))
        sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"  # the example of W3C Trace Context
        with continued_trace({"traceparent": sent}):
            await bots.health()
            assert route.calls[0].request.headers["traceparent"] == outgoing_headers()["traceparent"]
        assert "-4bf92f3577b34da6a3ce929d0e0e4736-" in route.calls[0].request.headers["traceparent"]

    async def test_hold_only_fields_that_were_set(self, wire: respx.Router, bots: AsyncBots):
        route = wire.patch(f"/v1/bots/{BOT}").mock(return_value=httpx.Response(404))
        with pytest.raises(NotFound):
            await bots.change_bot(BOT, BotChangesIn(description="Größer"))
        assert route.calls[0].request.content.decode() == '{"description": "Größer"}'

    async def test_hold_secrets_in_clear(self, wire: respx.Router, bots: AsyncBots):
        route = wire.put(f"/v1/bots/{BOT}/secret").mock(return_value=httpx.Response(404))
        with pytest.raises(NotFound):
            await bots.replace_bot_secret(BOT, SecretIn.model_validate({"secret": "sk-1"}))
        assert route.calls[0].request.content == b'{"secret": "sk-1"}'

    async def test_hold_ids_and_tuples_as_json(self, wire: respx.Router, bots: AsyncBots):
        route = wire.post("/v1/bots").mock(return_value=httpx.Response(409))
        protocol = BuiltinProtocol(kind="builtin", model="ngram", corpus_id=BOT)
        with pytest.raises(Conflict):
            await bots.register_bot(BotIn(name="n", domains=("everyday",), protocol=protocol), probe=False)
        request = route.calls[0].request
        assert request.url.params["probe"] == "false"
        expected = {"kind": "builtin", "model": "ngram", "corpus_id": str(BOT)}
        assert httpx.Response(200, content=request.content).json() == {
            "protocol": expected,
            "name": "n",
            "domains": ["everyday"],
        }

    async def test_keep_names_in_one_part_of_the_path(self, wire: respx.Router, bots: AsyncBots):
        route = wire.get(url__regex=".*").mock(return_value=httpx.Response(404))
        with pytest.raises(NotFound):
            await bots.get_hosted_model("../a?b=c d")
        assert route.calls[0].request.url.raw_path == b"/v1/hosted-models/..%2Fa%3Fb%3Dc%20d"

    async def test_go_past_proxies_of_the_environment(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n" + b'{"status":"ok"}') as url:
            with Bots(url, "key", retries=AT_ONCE) as blocking:
                assert blocking.health().status == "ok"
            async with AsyncBots(url, "key", retries=AT_ONCE) as bots:
                assert (await bots.health()).status == "ok"


class TestAnswers:
    async def test_they_may_say_more_than_the_client_knows(self, wire: respx.Router, bots: AsyncBots):
        wire.get("/v1/hosted-models/triton/repository").mock(
            return_value=httpx.Response(200, json={"answers": True, "models": {}, "news": 1})
        )
        assert (await bots.get_triton_repository()).answers

    @pytest.mark.parametrize("content", [b"", b"<html>", b'{"stat": "ok"}', b"[]"])
    async def test_another_form_raises_unexpected_answer(
        self, wire: respx.Router, bots: AsyncBots, blocking_bots: Bots, content: bytes
    ):
        wire.get("/healthz").mock(return_value=httpx.Response(200, content=content))
        with pytest.raises(UnexpectedAnswer, match="does not understand the answer of bots to GET /healthz"):
            await bots.health()
        with pytest.raises(UnexpectedAnswer):
            blocking_bots.health()

    async def test_no_content_is_none(self, wire: respx.Router, bots: AsyncBots):
        wire.delete("/v1/hosted-models/gpt").mock(return_value=httpx.Response(204))
        await bots.remove_hosted_model("gpt")
