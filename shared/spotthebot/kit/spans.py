"""Traces for OpenTelemetry: requests by FastAPI's own telemetry, calls of httpx, SQL of psycopg and libpq, and jobs.

The libraries are the extra `tracing`. They are imported where an exporter is set in the environment, by OpenTelemetry's
own variables (`OTEL_EXPORTER_OTLP_ENDPOINT`), and nowhere else. Attributes that leave the process are on a list: no URL
with its query, no parameter of a statement, no message of an error, since these hold keys and texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from hashlib import blake2b
from typing import Any
from uuid import UUID

from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, Sampler, SamplingResult, TraceIdRatioBased
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, TraceFlags

from spotthebot.kit.tracing import record_spans

_SENT = frozenset(
    {
        "db.name",
        "db.statement",
        "db.system",
        "db.query.text",
        "db.system.name",
        "error.type",
        "http.method",
        "http.request.method",
        "http.response.status_code",
        "http.route",
        "http.status_code",
        "net.peer.name",
        "net.peer.port",
        "network.protocol.version",
        "server.address",
        "server.port",
        "url.scheme",
    }
)
_OURS = "spotthebot."
_PING = ";"
"""The empty statement by which a pool tests a connection."""
_EXCEPTION = "exception.type"


class AllowedAttributes(SpanExporter):
    """Passes spans on with the attributes that may leave the process, and without what errors say."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([_allowed(span) for span in spans if span.name != _PING])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


class NoLoneCalls(Sampler):
    """Begins no trace with a statement or a call: those that no request and no job made are the polls of workers.

    Of all others it begins a share, by a hash of their ids: those of subjects are UUIDs, whose bits are not all random.
    """

    def __init__(self, ratio: float) -> None:
        self._ratio = TraceIdRatioBased(ratio)

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        *further: Any,  # noqa: ANN401 - OpenTelemetry's own
        **named: Any,  # noqa: ANN401 - the same
    ) -> SamplingResult:
        if kind == SpanKind.CLIENT:
            return SamplingResult(Decision.DROP)
        even = int.from_bytes(blake2b(trace_id.to_bytes(16), digest_size=8).digest())
        return self._ratio.should_sample(parent_context, even, name, kind, *further, **named)

    def get_description(self) -> str:
        return f"NoLoneCalls({self._ratio.get_description()})"


class SubjectIds(RandomIdGenerator):
    """Random ids, but for the first span of a subject's own trace: its ids are made of the subject's."""

    def __init__(self) -> None:
        self._subject: ContextVar[UUID | None] = ContextVar("subject", default=None)

    def generate_trace_id(self) -> int:
        subject = self._subject.get()
        return super().generate_trace_id() if subject is None else subject.int

    def generate_span_id(self) -> int:
        subject = self._subject.get()
        return super().generate_span_id() if subject is None else first_span_id(subject)

    @contextmanager
    def of(self, subject: UUID) -> Iterator[None]:
        """Let the span that begins in this block be the first one of a subject."""
        token = self._subject.set(subject)
        try:
            yield
        finally:
            self._subject.reset(token)


def first_span_id(subject: UUID) -> int:
    """Return the id of the first span of a subject's own trace; never 0, since a UUID's variant is in these bits."""
    return subject.int & (1 << 64) - 1


class Recorder:
    """Records spans of blocks, beside those that the instrumentations record."""

    def __init__(self, provider: TracerProvider, ids: SubjectIds) -> None:
        self._tracer = provider.get_tracer("spotthebot")
        self._sampler = provider.sampler
        self._ids = ids

    def present(self) -> tuple[str, str, str] | None:
        context = trace.get_current_span().get_span_context()
        if not context.is_valid:
            return None
        return f"{context.trace_id:032x}", f"{context.span_id:016x}", f"{context.trace_flags:02x}"

    def span(
        self, name: str, attributes: Mapping[str, str | int], carrier: Mapping[str, str] | None
    ) -> AbstractContextManager[object]:
        return self._span(name, attributes, carrier)

    def span_of(self, subject: UUID, name: str, attributes: Mapping[str, str | int]) -> AbstractContextManager[object]:
        return self._tracer.start_as_current_span(
            name, context=self._trace_of(subject), attributes=_own(attributes), links=_to_present()
        )

    def record(
        self, subject: UUID, name: str, attributes: Mapping[str, str | int], since: int, *, is_first: bool
    ) -> None:
        context = Context() if is_first else self._trace_of(subject)
        with self._ids.of(subject) if is_first else nullcontext():
            span = self._tracer.start_span(
                name, context=context, attributes=_own(attributes), links=_to_present(), start_time=since
            )
        span.end()

    def _trace_of(self, subject: UUID) -> Context:
        """Return the context of a subject's first span, which is recorded or not as the sampler says."""
        decision = self._sampler.should_sample(Context(), subject.int, "").decision
        flags = TraceFlags(TraceFlags.SAMPLED if decision is Decision.RECORD_AND_SAMPLE else TraceFlags.DEFAULT)
        first = SpanContext(subject.int, first_span_id(subject), is_remote=True, trace_flags=flags)
        return trace.set_span_in_context(NonRecordingSpan(first), Context())

    @contextmanager
    def _span(
        self, name: str, attributes: Mapping[str, str | int], carrier: Mapping[str, str] | None
    ) -> Iterator[None]:
        parent = None if carrier is None else propagate.extract(carrier)
        kind = SpanKind.INTERNAL if carrier is None else SpanKind.CONSUMER
        if any(each.startswith("db.") for each in attributes):
            kind = SpanKind.CLIENT
        with self._tracer.start_as_current_span(name, context=parent, kind=kind, attributes=_own(attributes)):
            yield


def _own(attributes: Mapping[str, str | int]) -> dict[str, str | int]:
    return {each if each.startswith("db.") else f"{_OURS}{each}": value for each, value in attributes.items()}


def _to_present() -> list[Link]:
    present = trace.get_current_span().get_span_context()
    return [Link(present)] if present.is_valid else []


def record(service: str, share: float = 1.0) -> TracerProvider:
    """Record the spans of this process, of a share of traces, and export them as OpenTelemetry's variables say."""
    ids = SubjectIds()
    provider = TracerProvider(
        sampler=ParentBased(NoLoneCalls(share)),
        id_generator=ids,
        resource=Resource.create({"service.name": service, "service.namespace": "spotthebot"}),
    )
    provider.add_span_processor(BatchSpanProcessor(AllowedAttributes(OTLPSpanExporter())))
    trace.set_tracer_provider(provider)
    HTTPXClientInstrumentor().instrument()
    PsycopgInstrumentor().instrument()
    record_spans(Recorder(provider, ids))
    return provider


def _allowed(span: ReadableSpan) -> ReadableSpan:
    attributes = {
        name: value
        for name, value in (span.attributes or {}).items()
        if name in _SENT or (name.startswith(_OURS) and isinstance(value, str | int))
    }
    events = [
        Event(event.name, {_EXCEPTION: str(event.attributes[_EXCEPTION])}, event.timestamp)
        for event in span.events
        if event.attributes and _EXCEPTION in event.attributes
    ]
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=attributes,
        events=events,
        links=span.links,
        kind=span.kind,
        instrumentation_scope=span.instrumentation_scope,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
    )
