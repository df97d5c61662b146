"""Traces with OpenTelemetry's API. If a request calls other services, they continue its trace.

A job may run for hours and for many requests. So it has a trace of its own, with a link to the trace of the request
that queued it. If spans are recorded (`kit/service/spans.py`), the current trace is the trace of the current span.
Otherwise a trace still has ids, for the log and for other services that record spans.
"""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from opentelemetry import context, propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, TraceFlags
from structlog.contextvars import bound_contextvars

Attributes = Mapping[str, str | int]
"""Attributes of spans. They never hold texts, keys or bodies."""
_OURS = "spotthebot."
_tracer = trace.get_tracer("spotthebot")


def is_recording() -> bool:
    """Return whether the current span is recorded. If not, code can save the work of making further spans."""
    return trace.get_current_span().is_recording()


def span(name: str, attributes: Attributes) -> AbstractContextManager[object]:
    """Record a block as a span of the current trace."""
    kind = SpanKind.CLIENT if any(each.startswith("db.") for each in attributes) else SpanKind.INTERNAL
    return _tracer.start_as_current_span(name, kind=kind, attributes=_own(attributes))


def record_span(name: str, attributes: Attributes, since: int) -> None:
    """Record a span of the current trace that began at `since`, in nanoseconds since 1970, and ends now."""
    _tracer.start_span(name, attributes=_own(attributes), start_time=since).end()


@contextmanager
def continued_trace(headers: Mapping[str, str]) -> Iterator[str]:
    """Continue the trace in a request's headers for a block, or start a new trace. Yields the id of the trace.

    If the request already has a span, the trace is the trace of this span. Headers that are malformed or too long are
    ignored.
    """
    now = context.get_current()
    if not trace.get_current_span().get_span_context().is_valid:
        now = propagate.extract(headers, Context())
        now = trace.set_span_in_context(_unrecorded(trace.get_current_span(now).get_span_context()), now)
    token = context.attach(now)
    try:
        yield trace.format_trace_id(trace.get_current_span().get_span_context().trace_id)
    finally:
        context.detach(token)


def outgoing_headers() -> dict[str, str]:
    """Return the trace headers for a call. Outside of any trace, they start a new trace."""
    headers: dict[str, str] = {}
    is_outside = not trace.get_current_span().get_span_context().is_valid
    propagate.inject(headers, trace.set_span_in_context(_unrecorded()) if is_outside else None)
    return headers


def stored_trace() -> str | None:
    """Return the current trace in the form in which a row stores it; None outside of any trace."""
    is_inside = trace.get_current_span().get_span_context().is_valid
    return json.dumps(outgoing_headers()) if is_inside else None


@contextmanager
def linked_trace(name: str, attributes: Attributes, stored: str | None) -> Iterator[None]:
    """Give a block a trace of its own, with a link to the stored trace if there is one.

    The block's calls, jobs, events and log lines belong to the new trace. Log lines contain the id of the stored trace
    as `linked_trace_id`. After the block the previous trace is current again.
    """
    cause = propagate.extract(json.loads(stored) if stored else {}, Context())
    linked = trace.get_current_span(cause).get_span_context()
    root = trace.set_span_in_context(trace.INVALID_SPAN, cause)
    links = [Link(linked)] if linked.is_valid else []
    made = _tracer.start_span(name, root, SpanKind.CONSUMER, _own(attributes), links)
    if not made.get_span_context().is_valid:
        made = _unrecorded()
    ids = {"trace_id": made.get_span_context().trace_id} | ({"linked_trace_id": linked.trace_id} if links else {})
    token = context.attach(root)
    try:
        with (
            trace.use_span(made, end_on_exit=True),
            bound_contextvars(**{each: trace.format_trace_id(number) for each, number in ids.items()}),
        ):
            yield
    finally:
        context.detach(token)


def _unrecorded(caller: SpanContext = trace.INVALID_SPAN_CONTEXT) -> Span:
    """Return a span that is not recorded here. It belongs to the caller's trace, or to a new trace without a caller.

    Other services may record the trace.
    """
    records = not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    flags = caller.trace_flags if caller.is_valid else TraceFlags(TraceFlags.SAMPLED)
    return NonRecordingSpan(
        SpanContext(
            caller.trace_id or secrets.randbits(128),
            secrets.randbits(64),
            is_remote=False,
            trace_flags=TraceFlags(TraceFlags.DEFAULT) if records else flags,
            trace_state=caller.trace_state,
        )
    )


def _own(attributes: Attributes) -> dict[str, str | int]:
    return {each if each.startswith("db.") else f"{_OURS}{each}": value for each, value in attributes.items()}
