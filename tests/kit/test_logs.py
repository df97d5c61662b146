import io
import json
import logging
import subprocess
import sys
from typing import Any

import pytest

from spotthebot.kit.access.keys import make_key
from spotthebot.kit.ids import new_id
from spotthebot.kit.telemetry import logs as telemetry_logs
from spotthebot.kit.telemetry.logs import LineBudget, log_request, redact

KEY, _ = make_key("admin", new_id())
PROGRAM = """
import logging, sys
from spotthebot.kit.telemetry.logs import configure_logs, get_logger

key = sys.argv[1]
configure_logs("things")
log = get_logger("ours")
log.info("hello", name="one", error=ValueError(f"from postgresql://user:hunter2@host/db"))
logging.getLogger("theirs").warning("used %s", key)
try:
    raise RuntimeError(key)
except RuntimeError:
    log.exception("failed")
    logging.getLogger("theirs").exception("failed too")
log.debug("not at this level")
logging.getLogger("httpx").info("too much")
"""


def _redacted(**event: Any) -> dict[str, Any]:
    return dict(redact(None, "info", event))


class TestRedaction:
    @pytest.mark.parametrize(
        "name", ["authorization", "Authorization", "password", "secret", "api_key", "apikey", "cookie", "database_url"]
    )
    def test_values_of_secret_names_are_blanked(self, name: str):
        assert _redacted(**{name: "hunter2"}) == {name: "[redacted]"}
        assert _redacted(headers={name: "hunter2"}) == {"headers": {name: "[redacted]"}}

    @pytest.mark.parametrize(
        "value",
        [KEY, [KEY], {"a": (KEY,)}, ValueError(KEY), KEY.encode(), {KEY}],
        ids=["text", "list", "nested", "error", "bytes", "set"],
    )
    def test_api_keys_are_blanked_wherever_they_stand(self, value: object):
        said = str(_redacted(value=value))
        assert KEY.rsplit("_", 1)[-1] not in said
        assert "[redacted]" in said

    def test_only_the_credentials_of_a_url_are_blanked(self):
        said = _redacted(event="see postgresql://user:hunter2@host/db and http://host:8101/v1")
        assert said["event"] == "see postgresql://[redacted]@host/db and http://host:8101/v1"

    def test_the_rest_stays_as_it_is(self):
        event = {"event": "request", "status": 200, "milliseconds": 1.5, "ok": True, "caller": None, "ids": [1, 2]}
        assert _redacted(**event) == event


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """What a process logs through our loggers and the standard library's."""
    written = subprocess.run([sys.executable, "-c", PROGRAM, KEY], capture_output=True, text=True, check=True)
    assert written.stdout == ""
    return [json.loads(line) for line in written.stderr.splitlines()]


class TestPipeline:
    def test_every_line_is_an_object_with_who_and_when(self, lines: list[dict[str, Any]]):
        assert [line["event"] for line in lines] == ["hello", "used [redacted]", "failed", "failed too"]
        assert {line["service"] for line in lines} == {"things"}
        assert [line["logger"] for line in lines] == ["ours", "theirs", "ours", "theirs"]
        assert [line["level"] for line in lines] == ["info", "warning", "error", "error"]
        assert all(line["timestamp"].endswith("Z") for line in lines)

    def test_fields_are_kept(self, lines: list[dict[str, Any]]):
        assert lines[0]["name"] == "one"

    def test_errors_come_with_their_traceback(self, lines: list[dict[str, Any]]):
        for line in lines[2:]:
            assert "Traceback" in line["exception"]
            assert "RuntimeError: [redacted]" in line["exception"]

    def test_no_secret_comes_through(self, lines: list[dict[str, Any]]):
        assert KEY not in str(lines)
        assert "hunter2" not in str(lines)


CONFIGURED_TWICE = """
from structlog.testing import capture_logs
from spotthebot.kit.telemetry.logs import configure_logs, get_logger

log = get_logger("ours")
for service in ("things", "others"):
    configure_logs(service)
    with capture_logs() as lines:
        log.warning("heard")
    print(len(lines))
"""


def test_lines_of_a_logger_are_captured_after_a_second_configuration():
    """structlog keeps the processors that a logger saw at its first line."""
    program = [sys.executable, "-c", CONFIGURED_TWICE]
    heard = subprocess.run(program, capture_output=True, text=True, check=True)
    assert (heard.stdout.split(), heard.stderr) == (["1", "1"], "")


REQUESTS = """
import sys
from spotthebot.kit.telemetry.logs import configure_logs, log_request

configure_logs("things", request_lines_per_second=10)
for number in range(1000):
    log_request(method="GET", path="/" + "x" * 5000, status=200, milliseconds=1.0, caller=None)
for number in range(1000):
    log_request(method="GET", path="/", status=503, milliseconds=1.0, caller=None)
log_request(method="GET", path="/slow", status=200, milliseconds=1500.0, caller=None)
"""


class TestRequestLines:
    def test_a_flood_of_requests_is_a_bounded_number_of_bounded_lines(self):
        written = subprocess.run([sys.executable, "-c", REQUESTS], capture_output=True, text=True, check=True)
        lines = [json.loads(line) for line in written.stderr.splitlines()]
        ordinary = [line for line in lines if line["status"] == 200 and line["milliseconds"] < 1000]
        failed = [line for line in lines if line["status"] == 503]
        assert 10 <= len(ordinary) < 100
        assert 10 <= len(failed) < 100
        assert max(map(len, written.stderr.splitlines())) < 1000

    def test_lines_that_were_left_out_are_counted_in_the_next_one(self):
        now = 0.0
        budget = LineBudget(2, lambda: now)
        taken = [budget.take() for _ in range(5)]
        now = 0.5
        assert taken == [0, 0, None, None, None]
        assert budget.take() == 3
        now = 100.0
        assert [budget.take() for _ in range(3)] == [0, 0, None]  # no more than a second's are saved up

    @pytest.mark.parametrize(
        ("status", "milliseconds", "is_written"), [(499, 999.9, False), (500, 0.0, True), (200, 1000.0, True)]
    )
    def test_failed_and_slow_requests_are_written_where_ordinary_ones_come_too_fast(
        self, monkeypatch: pytest.MonkeyPatch, status: int, milliseconds: float, is_written: bool
    ):
        written = io.StringIO()
        monkeypatch.setattr(logging.getLogger(), "handlers", [logging.NullHandler(), logging.StreamHandler(written)])
        monkeypatch.setattr(logging.getLogger("spotthebot.requests"), "level", logging.INFO)
        monkeypatch.setattr(logging.getLogger("spotthebot.requests"), "_cache", {})
        monkeypatch.setattr(telemetry_logs, "_ordinary", LineBudget(0))
        log_request(path=f"/{KEY}/" + 600 * "x", status=status, milliseconds=milliseconds, method="GET")
        lines = [json.loads(line) for line in written.getvalue().splitlines()]
        assert len(lines) == is_written
        for line in lines:
            assert (line["event"], line["status"], line["milliseconds"]) == ("request", status, milliseconds)
            assert line["path"] == ("/[redacted]/" + (500 - len(KEY) - 2) * "x")
            assert "left_out" not in line

    @pytest.mark.parametrize("fault", [ValueError("I/O operation on closed file."), BrokenPipeError()])
    def test_a_line_that_cannot_be_written_fails_no_request(self, monkeypatch: pytest.MonkeyPatch, fault: Exception):
        class Lost(io.StringIO):
            def write(self, _text: str) -> int:
                raise fault

        written = io.StringIO()
        streams = [logging.StreamHandler(stream) for stream in (Lost(), written)]
        monkeypatch.setattr(logging.getLogger(), "handlers", streams)
        monkeypatch.setattr(logging.getLogger("spotthebot.requests"), "level", logging.INFO)
        monkeypatch.setattr(logging.getLogger("spotthebot.requests"), "_cache", {})
        log_request(path="/", status=500, milliseconds=1.0)
        assert json.loads(written.getvalue())["path"] == "/"

    def test_are_not_written_above_their_level(self, monkeypatch: pytest.MonkeyPatch):
        written = io.StringIO()
        monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(written)])
        monkeypatch.setattr(logging.getLogger("spotthebot.requests"), "level", logging.WARNING)
        monkeypatch.setattr(logging.getLogger("spotthebot.requests"), "_cache", {})
        log_request(path="/", status=500, milliseconds=1.0)
        assert written.getvalue() == ""
