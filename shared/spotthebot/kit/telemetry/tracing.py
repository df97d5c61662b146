"""Traces by OpenTelemetry's API: the trace of a request goes on to the services that it calls.

What a request queues has a trace of its own, with a link to the request's: jobs run for hours and for many. Where
spans are recorded (`kit/service/spans.py`), the present trace is that of the present span. Elsewhere a trace has ids
all the same, for the log and for services that record it.
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
"""They never hold texts, keys or bodies."""
_OURS = "spotthebot."
_tracer = trace.get_tracer("spotthebot")


def is_recording() -> bool:
    """Return whether the present span is recorded, for code that would do without further ones."""
    return trace.get_current_span().is_recording()


def span(name: str, attributes: Attributes) -> AbstractContextManager[object]:
    """Record a block as a span of the present trace."""
    kind = SpanKind.CLIENT if any(each.startswith("db.") for each in attributes) else SpanKind.INTERNAL
    return _tracer.start_as_current_span(name, kind=kind, attributes=_own(attributes))


def record_span(name: str, attributes: Attributes, since: int) -> None:
    """Record what began at `since`, in nanoseconds of the epoch, and ends now as a span of the present trace."""
    _tracer.start_span(name, attributes=_own(attributes), start_time=since).end()


@contextmanager
def continued_trace(headers: Mapping[str, str]) -> Iterator[str]:
    """Take up the trace of a request's headers for a block, or begin one; yields its id.

    Where the request has a span already, the trace is that span's. Headers that are malformed or too long count for
    nothing.
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
    """Return the headers for a call made now; a call outside of any trace has one of its own."""
    headers: dict[str, str] = {}
    is_outside = not trace.get_current_span().get_span_context().is_valid
    propagate.inject(headers, trace.set_span_in_context(_unrecorded()) if is_outside else None)
    return headers


def stored_trace() -> str | None:
    """Return the present trace as a row keeps it; None outside of any."""
    is_inside = trace.get_current_span().get_span_context().is_valid
    return json.dumps(outgoing_headers()) if is_inside else None


@contextmanager
def linked_trace(name: str, attributes: Attributes, stored: str | None) -> Iterator[None]:
    """Let a block have a trace of its own, with a link to the one that a row keeps, if it keeps one.

    Its calls, jobs, events and lines of the log belong to it; these name the other one as `linked_trace_id`. After the
    block the trace of before is the present one again.
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
    """Return a span that is not recorded here: of the caller's trace, or of another that other services may record."""
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
