"""Records traces for OpenTelemetry: of requests to FastAPI, calls by httpx, SQL by psycopg and libpq, and jobs.

The libraries belong to the extra `tracing`. They are imported only if OpenTelemetry's environment variables name an
exporter (`OTEL_EXPORTER_OTLP_ENDPOINT`). Only listed attributes leave the process. Queries of URLs, parameters of
statements and messages of errors do not leave it, since they may contain keys and texts.
"""

from collections.abc import Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, SamplingResult, TraceIdRatioBased
from opentelemetry.trace import SpanKind, Status

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
"""The empty statement with which a pool tests a connection."""
_EXCEPTION = "exception.type"


class AllowedAttributes(SpanExporter):
    """Exports spans with only the listed attributes. Leaves out the messages of errors."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([_allowed(span) for span in spans if span.name != _PING])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


class NoLoneCalls(TraceIdRatioBased):
    """Does not start a trace for a statement or a call alone.

    Statements and calls outside of requests and jobs come from polling workers.
    """

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
        return super().should_sample(parent_context, trace_id, name, kind, *further, **named)


def record(service: str, share: float = 1.0) -> TracerProvider:
    """Record a share of this process's traces, and export them as OpenTelemetry's environment variables say."""
    provider = TracerProvider(
        sampler=ParentBased(NoLoneCalls(share)),
        resource=Resource.create({"service.name": service, "service.namespace": "spotthebot"}),
    )
    provider.add_span_processor(BatchSpanProcessor(AllowedAttributes(OTLPSpanExporter())))
    trace.set_tracer_provider(provider)
    HTTPXClientInstrumentor().instrument()
    PsycopgInstrumentor().instrument()
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
