"""Spans that are recorded in memory, by the SDK and our sampler."""

from time import time_ns

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased

from spotthebot.kit.service.process import start_tracing
from spotthebot.kit.service.spans import NoLoneCalls
from spotthebot.kit.telemetry import tracing as telemetry_tracing
from spotthebot.kit.telemetry.tracing import is_recording, linked_trace, record_span, span, stored_trace

QUERY = {"db.system": "postgresql", "db.statement": "SELECT 1"}


@pytest.fixture
def exporter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What is recorded of a share of traces: of all, unless the test says otherwise."""
    made = InMemorySpanExporter()
    provider = TracerProvider(sampler=ParentBased(NoLoneCalls(getattr(request, "param", 1.0))))
    provider.add_span_processor(SimpleSpanProcessor(made))
    monkeypatch.setattr(telemetry_tracing, "_tracer", provider.get_tracer("tests"))
    return made


class TestSpans:
    def test_begin_a_linked_trace_and_lead_to_the_other(self, exporter: InMemorySpanExporter):
        with span("request", {}):
            kept = stored_trace()
            with linked_trace("job", {"job": 7}, kept), span("page", {}):
                pass
            with span("answer", {}):
                pass
        spans = {each.name: each for each in exporter.get_finished_spans()}
        traces = {name: each.context.trace_id for name, each in spans.items()}
        assert traces["job"] == traces["page"] != traces["request"] == traces["answer"]
        assert spans["job"].parent is None
        assert [link.context.span_id for link in spans["job"].links] == [spans["request"].context.span_id]
        assert not spans["request"].links
        assert dict(spans["job"].attributes or {}) == {"spotthebot.job": 7}

    def test_take_as_long_as_what_they_tell(self, exporter: InMemorySpanExporter):
        since = time_ns() - 5_000_000_000
        record_span("write", {}, since)
        (span,) = exporter.get_finished_spans()
        assert span.start_time == since
        assert span.end_time is not None
        assert 5 <= (span.end_time - span.start_time) / 1e9 < 65

    @pytest.mark.parametrize(
        ("exporter", "least", "most"), [(0, 0, 0), (0.5, 60, 140), (1, 200, 200)], indirect=["exporter"]
    )
    def test_are_recorded_for_whole_traces_or_not_at_all(self, exporter: InMemorySpanExporter, least: int, most: int):
        """A binomial count of 200 at one half is below 60 or above 140 with a probability of 6e-9."""
        for _ in range(200):
            with linked_trace("job", {}, None), span("SELECT", QUERY):
                pass
        names = [each.name for each in exporter.get_finished_spans()]
        assert least <= names.count("job") == names.count("SELECT") <= most

    def test_begin_no_trace_with_a_statement(self, exporter: InMemorySpanExporter):
        with span("SELECT", QUERY):
            assert not is_recording()
        assert exporter.get_finished_spans() == ()


@pytest.mark.parametrize("share", ["all", "1.5", "-0.1", "nan"])
def test_a_share_that_is_none_ends_the_process_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], share: str
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", share)
    with pytest.raises(SystemExit) as ended:
        start_tracing("bots")
    assert ended.value.code == 78
    assert capsys.readouterr().err.startswith("bots: OTEL_TRACES_SAMPLER_ARG is the share of traces")
