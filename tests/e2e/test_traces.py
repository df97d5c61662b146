"""A label is one trace; what a collection does has links to its request; spans hold neither texts nor keys."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.factories.annotating import answer_items, claim
from tests.factories.bot_servers import bot
from tests.factories.campaigns import campaign_of
from tests.factories.databases import Databases, DatabaseUrls
from tests.factories.frontends import conversations_of, open_chats, start, talk
from tests.factories.running_suite import Keys, RunningSuite
from tests.factories.studies import add_bot, plan, until
from tests.factories.subscribers import settled, subscribe

ROOT = Path(__file__).parents[2]
COLLECTION, OTHER, LABEL, SEARCH = "c0" * 16, "0c" * 16, "1a" * 16, "5e" * 16
TURNS = 8
CONVERSATIONS = {COLLECTION: 1, OTHER: 2}
CALLER = "00f067aa0ba902b7"
CONVERSATION = "spotthebot.conversation.id"


class Collector:
    """Takes spans as an OpenTelemetry collector does, by OTLP over HTTP."""

    def __init__(self) -> None:
        received: list[bytes] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self.received = received
        self.conversations: list[str] = []
        """Ids of the collections' conversations."""
        self.chatted: list[str] = []
        """Ids of the conversations of a person."""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def all_spans(self) -> list[Span]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.received]
        scopes = [scope for each in requests for resource in each.resource_spans for scope in resource.scope_spans]
        return [span for scope in scopes for span in scope.spans]

    def spans(self, trace_id: str) -> list[Span]:
        return [span for span in self.all_spans() if span.trace_id.hex() == trace_id]

    def brought_about(self, trace_id: str) -> list[Span]:
        """Return the spans of the traces with links to this one, with links to those, and so on."""
        spans, found, known = self.all_spans(), {bytes.fromhex(trace_id)}, 0
        while len(found) > known:
            known = len(found)
            found |= {span.trace_id for span in spans if any(link.trace_id in found for link in span.links)}
        return [span for span in spans if span.trace_id in found - {bytes.fromhex(trace_id)}]

    def of_conversation(self, conversation: str) -> list[Span]:
        return [each for each in self.all_spans() if _attributes(each).get(CONVERSATION) == str(UUID(conversation))]


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    made = Collector()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@contextlib.contextmanager
def _traced_services(urls: DatabaseUrls, collector: Collector) -> Iterator[dict[str, str]]:
    host, port = collector.server.server_address[:2]
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{host!s}:{port}",
        "TRACED_DATABASE": json.dumps({"owner": dict(urls.owner), "app": dict(urls.app)}),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.traced_suite"],
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    assert process.returncode == 0


@pytest.fixture(scope="module")
async def traced(databases: Databases, collector: Collector) -> Collector:
    """Spans of two collections, a label and a search, each begun by a caller with a trace of its own, and of a chat.

    The runner of the first collection goes on with the second.
    """
    async with contextlib.AsyncExitStack() as stack:
        urls = stack.enter_context(databases.lend())
        keys = await stack.enter_async_context(Keys(urls.owner["access"]))
        suite = RunningSuite(stack.enter_context(_traced_services(urls, collector)), {}, urls, keys, stack)
        bots = [await add_bot(suite, "eliza"), await add_bot(suite, "eliza", name="eliza-2")]
        conversations = await suite.client("conversations", "admin")
        subscriber, url = await stack.enter_async_context(bot(lambda _: {}))
        subscription = await subscribe(suite, url)
        for trace, count in CONVERSATIONS.items():
            asked = plan(bots, conversations_per_pair=count, exchanges=TURNS // 2)
            path = await _post(conversations, "/v1/collections", asked, trace)
            await until(conversations, path, "complete")
            listed = (await conversations.get(f"{path}/conversations")).json()["items"]
            collector.conversations += [UUID(each["id"]).hex for each in listed]
        study = await open_chats(suite, bots)
        await talk(suite, await start(suite, study))
        collector.chatted += [UUID(each["id"]).hex for each in await conversations_of(suite, study)]
        await settled(suite, subscription, 2)
        assert not [name for headers in subscriber.headers for name in headers if name in {"traceparent", "baggage"}]
        campaign = await campaign_of(suite, 2)
        assignment = await claim(suite, campaign, "A1")
        await answer_items(suite, assignment)
        frontend = await suite.client("annotation", "annotation")
        await _post(frontend, f"/v1/assignments/{assignment['id']}/submit", None, LABEL)
        searched = f"/v1/collections/{campaign['collection_id']}/conversations?text=SECRET%20WORDS"
        found = await conversations.get(searched, headers=_headers(SEARCH))
        assert found.status_code == 200, found.text
        await stack.pop_all().aclose()
    return collector


def _headers(trace: str) -> dict[str, str]:
    return {"traceparent": f"00-{trace}-{CALLER}-01"}


async def _post(client: Any, path: str, body: Any, trace: str) -> str:
    answer = await client.post(path, json=body, headers=_headers(trace))
    assert answer.status_code in {200, 201}, answer.text
    return f"{path}/{answer.json().get('id')}"


def _kinds(spans: Sequence[Span]) -> set[tuple[str, str]]:
    return {(Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"), span.name) for span in spans}


def _statement(span: Span) -> str:
    return _attributes(span).get("db.statement", "")


def _attributes(span: Span) -> dict[str, str]:
    return {each.key: each.value.string_value for each in span.attributes}


def _number(span: Span, name: str) -> int:
    (value,) = [each.value.int_value for each in span.attributes if each.key == name]
    return value


@pytest.mark.parametrize("trace", [COLLECTION, OTHER])
async def test_a_collections_turns_and_its_event_have_links_to_its_request(traced: Collector, trace: str):
    request = traced.spans(trace)
    assert ("SERVER", "POST /v1/collections") in _kinds(request)
    known = {span.span_id for span in request}
    assert {span.parent_span_id.hex() for span in request if span.parent_span_id not in known} == {CALLER}
    spans = traced.brought_about(trace)
    assert {
        ("CONSUMER", "request turns"),
        ("CLIENT", "POST"),
        ("SERVER", "POST /v1/bots/{bot_id}/replies"),
        ("CONSUMER", "commit turns"),
        ("CONSUMER", "finish collection"),
        ("CONSUMER", "deliver event"),
    } <= _kinds(spans)
    known = {span.span_id for span in spans}
    assert {span.parent_span_id for span in spans if span.parent_span_id not in known} == {b""}
    asked = {span.parent_span_id for span in spans if span.name == "POST /v1/bots/{bot_id}/replies"}
    assert TURNS <= len(asked) <= TURNS * CONVERSATIONS[trace]
    assert asked <= {span.span_id for span in spans if span.kind == Span.SPAN_KIND_CLIENT}
    assert {_attributes(span)["spotthebot.event_type"] for span in spans if span.name == "deliver event"} == {
        "collection.finished"
    }


async def test_a_conversation_is_found_by_its_id_from_its_first_question_to_its_end(traced: Collector):
    assert len(traced.conversations) == 3
    for conversation in traced.conversations:
        spans = traced.of_conversation(conversation)
        for name, number in (("request turn", "turn"), ("ask bot", "turns_before"), ("commit turn", "turn")):
            turns = [_number(span, f"spotthebot.{number}") for span in spans if span.name == name]
            assert sorted(turns) == list(range(TURNS)), name
        assert [span.name for span in spans if span.name.startswith("end as ")] == ["end as complete"]


async def test_a_persons_conversation_is_found_too(traced: Collector):
    assert len(traced.chatted) == 2
    for conversation in traced.chatted:
        spans = traced.of_conversation(conversation)
        said = sorted((_number(each, "spotthebot.turn"), each.name) for each in spans if "turn" in each.name.split())
        assert said == [(0, "commit turn"), (1, "commit turn"), (1, "request turn")]
        others = sorted(each.name for each in spans if "turn" not in each.name.split())
        assert others == ["ask bot", "end as complete"]


async def test_the_spans_of_a_conversation_are_below_those_of_requests_and_commits(traced: Collector):
    expected = {
        "request turn": "request turns",
        "commit turn": "commit turns",
        "ask bot": "POST /v1/bots/{bot_id}/replies",
    }
    for trace, conversation in zip((COLLECTION, OTHER, OTHER), traced.conversations, strict=True):
        names = {span.span_id: span.name for span in traced.brought_about(trace)}
        spans = [span for span in traced.of_conversation(conversation) if span.name in expected]
        assert [names[span.parent_span_id] for span in spans] == [expected[span.name] for span in spans]


async def test_the_statements_of_a_turn_are_in_the_trace_of_its_commit(traced: Collector):
    spans = [span for trace in (COLLECTION, OTHER) for span in traced.brought_about(trace)]
    commits = {span.span_id for span in spans if span.name == "commit turns"}
    written = [span for span in spans if "INSERT INTO conversations.turns " in _statement(span)]
    assert written
    assert {span.parent_span_id for span in written} <= commits


async def test_a_runners_look_for_work_is_in_no_trace(traced: Collector):
    assert not [span for span in traced.all_spans() if "AS claimed" in _statement(span)]


async def test_a_label_is_one_trace_with_its_statements(traced: Collector):
    spans = traced.spans(LABEL)
    assert ("SERVER", "POST /v1/assignments/{assignment_id}/submit") in _kinds(spans)
    statements = [_statement(span) for span in spans]
    assert any("INSERT INTO annotation.annotations" in each for each in statements)
    assert any("access.api_keys" in each for each in statements)  # on libpq, past psycopg
    known = {span.span_id for span in spans}
    assert {span.parent_span_id.hex() for span in spans if span.parent_span_id not in known} == {CALLER}


async def test_spans_hold_neither_texts_nor_keys_nor_queries(traced: Collector):
    assert traced.spans(SEARCH)
    everything = b"".join(traced.received)
    for secret in (b"SECRET", b"stb_", b"says 0", b"Bearer", b"url.query", b"url.full", b"exception.message"):
        assert secret not in everything, secret
    names = {name for span in traced.all_spans() for name in _attributes(span)}
    assert not {name for name in names if name.startswith(("url.", "http.url", "http.target"))} - {"url.scheme"}


def test_without_an_exporter_no_library_of_traces_is_imported():
    program = (
        "import sys; from spotthebot.kit.service.process import start_tracing; import spotthebot.conversations.app;"
        " import spotthebot.conversations.worker; start_tracing('conversations');"
        " print([each for each in sys.modules if each.startswith(('opentelemetry.sdk', 'opentelemetry.exporter',"
        " 'opentelemetry.instrumentation'))])"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"
