"""Traces that subjects have for themselves, recorded in memory."""

from time import time_ns
from uuid import UUID, uuid4

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased

from spotthebot.kit.process import start_tracing
from spotthebot.kit.spans import NoLoneCalls, Recorder, SubjectIds

LETTER, OTHER = UUID("0192f1e0-0000-7000-8000-00000000000a"), UUID("0192f1e0-0000-7000-8000-00000000000b")


class Recorded:
    """A recorder of a share of traces, and what it has recorded."""

    def __init__(self, share: float = 1) -> None:
        ids, self.exporter = SubjectIds(), InMemorySpanExporter()
        provider = TracerProvider(sampler=ParentBased(NoLoneCalls(share)), id_generator=ids)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.recorder = Recorder(provider, ids)

    def traces(self) -> dict[int, set[str]]:
        spans = self.exporter.get_finished_spans()
        return {
            each.context.trace_id: {s.name for s in spans if s.context.trace_id == each.context.trace_id}
            for each in spans
        }


class TestASubjectsOwnTrace:
    def test_has_the_subjects_id_whoever_records_it_and_in_whichever_order(self):
        one, two = Recorded(), Recorded()
        with one.recorder.span_of(LETTER, "read", {}):
            pass
        two.recorder.record(LETTER, "write", {}, time_ns(), is_first=True)
        (read,), (write,) = one.exporter.get_finished_spans(), two.exporter.get_finished_spans()
        assert read.context.trace_id == write.context.trace_id == LETTER.int
        assert write.parent is None
        assert read.parent is not None
        assert read.parent.span_id == write.context.span_id

    def test_is_linked_with_what_brought_it_about_and_leaves_that_the_present_one(self):
        recorded = Recorded()
        with recorded.recorder.span("request", {}, None):
            before = recorded.recorder.present()
            with recorded.recorder.span_of(LETTER, "read", {}), recorded.recorder.span("page", {}, None):
                pass
            recorded.recorder.record(OTHER, "write", {}, time_ns(), is_first=True)
            assert recorded.recorder.present() == before
        assert recorded.traces().pop(LETTER.int) == {"read", "page"}
        spans = {each.name: each for each in recorded.exporter.get_finished_spans()}
        for name in ("read", "write"):
            assert [link.context.span_id for link in spans[name].links] == [spans["request"].context.span_id]
        assert not spans["request"].links

    def test_takes_as_long_as_what_it_tells(self):
        recorded = Recorded()
        since = time_ns() - 5_000_000_000
        recorded.recorder.record(LETTER, "write", {}, since, is_first=False)
        (span,) = recorded.exporter.get_finished_spans()
        assert span.start_time == since
        assert span.end_time is not None
        assert 5 <= (span.end_time - span.start_time) / 1e9 < 65

    @pytest.mark.parametrize(("share", "least", "most"), [(0, 0, 0), (0.5, 60, 140), (1, 200, 200)])
    def test_is_recorded_whole_or_not_at_all(self, share: float, least: int, most: int):
        """A binomial count of 200 at one half is below 60 or above 140 with a probability of 6e-9."""
        recorded = Recorded(share)
        for subject in (uuid4() for _ in range(200)):
            recorded.recorder.record(subject, "write", {}, time_ns(), is_first=True)
            with recorded.recorder.span_of(subject, "read", {}):
                pass
        assert least <= len(recorded.traces()) <= most
        assert all(names == {"write", "read"} for names in recorded.traces().values())


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
