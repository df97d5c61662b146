import io
import json
import logging
from collections.abc import Iterator
from contextvars import Context

import httpx
import pytest
from structlog.contextvars import get_contextvars, merge_contextvars
from structlog.testing import capture_logs

from spotthebot.kit.telemetry.tracing import continued_trace, linked_trace, outgoing_headers, stored_trace

CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"  # the example of W3C Trace Context
TRACE = CALLER[3:35]
SENT = {"traceparent": CALLER, "tracestate": "lab=1", "baggage": "study=pilot"}


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """The lines of requests, as a service writes them to standard error."""
    requests, root, text = logging.getLogger("spotthebot.requests"), logging.getLogger(), io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setLevel(logging.CRITICAL)  # nothing else
    requests.setLevel(logging.INFO)
    root.addHandler(handler)
    yield text
    root.removeHandler(handler)
    requests.setLevel(logging.NOTSET)


class TestTrace:
    def test_is_taken_up_with_a_span_of_our_own(self):
        with continued_trace({"traceparent": CALLER}):
            version, trace, span, flags = outgoing_headers()["traceparent"].split("-")
        assert (version, trace, flags) == ("00", "4bf92f3577b34da6a3ce929d0e0e4736", "01")
        assert span != "00f067aa0ba902b7"
        assert len(bytes.fromhex(span)) == 8

    def test_keeps_the_callers_wish_not_to_be_sampled(self):
        with continued_trace({"traceparent": CALLER[:-2] + "00"}):
            assert outgoing_headers()["traceparent"].endswith("-00")

    @pytest.mark.parametrize(
        "header",
        [
            None,
            "",
            "nonsense",
            f"00-{'0' * 32}-{'1' * 16}-01",  # all zeros are invalid, for a trace
            f"00-{'1' * 32}-{'0' * 16}-01",  # and for a span
            f"ff-{'1' * 32}-{'1' * 16}-01",  # a version that is forbidden
            f"00-{'A' * 32}-{'1' * 16}-01",  # hexadecimal digits are lower case
            f"00-{'1' * 31}-{'1' * 16}-01",
        ],
    )
    def test_begins_where_the_header_is_malformed(self, header: str | None):
        with continued_trace({} if header is None else {"traceparent": header}) as trace_id:
            sent = outgoing_headers()["traceparent"]
        assert int(trace_id, 16)
        assert sent.startswith(f"00-{trace_id}-")
        assert trace_id not in str(header)

    def test_begins_where_a_call_is_made_outside_of_any_request(self):
        version, trace, span, flags = Context().run(outgoing_headers)["traceparent"].split("-")
        assert version == "00"
        assert len(trace) == 32
        assert len(span) == 16
        assert flags == "01"

    def test_is_another_for_each_call_outside_of_any_request(self):
        def two_calls() -> set[str]:
            return {outgoing_headers()["traceparent"] for _ in range(2)}

        assert len(Context().run(two_calls)) == 2

    def test_is_another_in_a_block_that_is_linked_with_the_one_kept_by_a_row(self):
        with continued_trace(SENT):
            kept = stored_trace()
        with continued_trace({}) as present:
            before = outgoing_headers()
            with linked_trace("block", {}, kept):
                headers, logged = outgoing_headers(), get_contextvars()
            after = outgoing_headers()
        trace_id = headers["traceparent"].split("-")[1]
        assert trace_id not in {TRACE, present}
        assert set(headers) == {"traceparent", "baggage"}
        assert headers["baggage"] == "study=pilot"
        assert (logged["trace_id"], logged["linked_trace_id"]) == (trace_id, TRACE)
        assert after["traceparent"].split("-")[:3] == before["traceparent"].split("-")[:3]
        assert not {"trace_id", "linked_trace_id"} & set(get_contextvars())

    def test_is_linked_with_none_where_a_row_keeps_none(self):
        with continued_trace({"traceparent": CALLER}) as trace_id, linked_trace("block", {}, None):
            assert trace_id not in outgoing_headers()["traceparent"]
            assert "linked_trace_id" not in get_contextvars()

    def test_is_not_kept_outside_of_any_request(self):
        assert Context().run(stored_trace) is None


class TestBaggage:
    def test_goes_on_with_the_trace_and_the_state_of_its_caller(self):
        with continued_trace(SENT):
            headers = outgoing_headers()
        assert (headers["tracestate"], headers["baggage"]) == ("lab=1", "study=pilot")

    @pytest.mark.parametrize("baggage", ["x" * 2049, "x=" + "y" * 8192, "two\nlines", "k\u00e9"])
    def test_is_left_out_where_it_is_too_long_or_no_header(self, baggage: str):
        with continued_trace({"traceparent": CALLER, "baggage": baggage}):
            assert set(outgoing_headers()) == {"traceparent"}

    def test_goes_on_without_a_state_where_the_trace_is_malformed(self):
        with continued_trace({"traceparent": "nonsense", "tracestate": "lab=1"}):
            assert set(outgoing_headers()) == {"traceparent"}


class TestRequestLog:
    async def test_a_request_and_its_answer_share_an_id(self, admin: httpx.AsyncClient, written: io.StringIO):
        answer = await admin.get("/things", headers={"traceparent": CALLER})
        await admin.get("/openapi.json")
        first, second = map(json.loads, written.getvalue().splitlines())
        assert (first["event"], first["level"], first["service"]) == ("request", "info", "tests")
        assert first["request_id"] == answer.headers["x-request-id"]
        assert first["trace_id"] == "4bf92f3577b34da6a3ce929d0e0e4736"
        assert (first["method"], first["path"], first["status"]) == ("GET", "/things", 200)
        assert first["caller"].replace("-", "") in admin.headers["authorization"]  # the key's id, not its secret
        assert second["request_id"] != first["request_id"]
        assert second["trace_id"] != first["trace_id"]
        assert second["caller"] is None

    async def test_an_api_key_in_a_path_is_not_written(self, admin: httpx.AsyncClient, written: io.StringIO):
        key = admin.headers["authorization"].removeprefix("Bearer ")
        await admin.get(f"/failing/{key}")
        assert key not in written.getvalue()
        assert json.loads(written.getvalue())["path"] == "/failing/[redacted]"

    async def test_is_silent_above_its_level(self, admin: httpx.AsyncClient, written: io.StringIO):
        logging.getLogger("spotthebot.requests").setLevel(logging.WARNING)
        await admin.get("/openapi.json")
        assert written.getvalue() == ""

    async def test_an_unforeseen_error_is_logged_under_the_id_that_the_caller_got(self, admin: httpx.AsyncClient):
        with capture_logs(processors=[merge_contextvars]) as lines:
            answer = await admin.get("/failing/unforeseen")
        (failed,) = [line for line in lines if line["event"] == "request.failed"]
        assert failed["request_id"] == answer.headers["x-request-id"]
        assert failed["exc_info"]


class TestMetrics:
    async def test_requests_are_counted_by_route_not_by_path(self, admin: httpx.AsyncClient):
        for family in ("conflict", "missing"):
            await admin.get(f"/failing/{family}")
        await admin.get("/no/such/path")
        metrics = (await admin.get("/metrics")).text
        assert 'route="/failing/{family}",service="things",status="409"} 1.0' in metrics
        assert 'route="/failing/{family}",service="things",status="404"} 1.0' in metrics
        assert 'route="unmatched",service="things",status="404"} 1.0' in metrics
        assert "/no/such/path" not in metrics
