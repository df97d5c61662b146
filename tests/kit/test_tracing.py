import httpx
import pytest
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from spotthebot.kit.tracing import continue_trace, outgoing_traceparent

CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"  # the example of W3C Trace Context


class TestTrace:
    def test_is_taken_up_with_a_span_of_our_own(self):
        continue_trace(CALLER)
        version, trace, span, flags = outgoing_traceparent().split("-")
        assert (version, trace, flags) == ("00", "4bf92f3577b34da6a3ce929d0e0e4736", "01")
        assert span != "00f067aa0ba902b7"
        assert len(bytes.fromhex(span)) == 8

    def test_that_the_caller_does_not_sample_stays_so(self):
        continue_trace(CALLER[:-2] + "00")
        assert outgoing_traceparent().endswith("-00")

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
    def test_begins_anew_where_the_header_is_malformed(self, header: str | None):
        trace = continue_trace(header)
        assert int(trace.trace_id, 16)
        assert len(trace.trace_id) == 32
        assert trace.trace_id not in str(header)


class TestRequestLog:
    async def test_a_request_and_its_answer_share_an_id(self, admin: httpx.AsyncClient):
        with capture_logs(processors=[merge_contextvars]) as lines:
            answer = await admin.get("/things", headers={"traceparent": CALLER})
            await admin.get("/healthz")
        first, second = [line for line in lines if line["event"] == "request"]
        assert first["request_id"] == answer.headers["x-request-id"]
        assert first["trace_id"] == "4bf92f3577b34da6a3ce929d0e0e4736"
        assert (first["method"], first["path"], first["status"]) == ("GET", "/things", 200)
        assert first["caller"].replace("-", "") in admin.headers["authorization"]  # the key's id, not its secret
        assert second["request_id"] != first["request_id"]
        assert second["trace_id"] != first["trace_id"]
        assert second["caller"] is None

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
        told = (await admin.get("/metrics")).text
        assert 'route="/failing/{family}",service="things",status="409"} 1.0' in told
        assert 'route="/failing/{family}",service="things",status="404"} 1.0' in told
        assert 'route="unmatched",service="things",status="404"} 1.0' in told
        assert "/no/such/path" not in told
