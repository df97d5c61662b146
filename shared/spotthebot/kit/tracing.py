"""W3C trace context and baggage: what came in goes on to the services that we call and to the jobs that we queue.

This costs next to nothing and needs no library. Where spans are recorded (`kit/spans.py`), their recorder is set here:
the present trace is then that of the present span.
"""

import json
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from structlog.contextvars import bound_contextvars

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_LONGEST_STATE = 512
_LONGEST_BAGGAGE = 2048


@dataclass(frozen=True)
class Trace:
    """The trace a request belongs to, our span in it, and what its callers sent along."""

    trace_id: str
    span_id: str
    flags: str = "01"
    tracestate: str = ""
    baggage: str = ""

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request that continues this trace."""
        more = {"tracestate": self.tracestate, "baggage": self.baggage}
        return {"traceparent": self.traceparent} | {name: value for name, value in more.items() if value}


class SpanRecorder(Protocol):
    """Records spans."""

    def present(self) -> tuple[str, str, str] | None:
        """Return trace id, span id and flags of the present span; None where there is none."""
        ...

    def span(
        self, name: str, attributes: Mapping[str, str | int], carrier: Mapping[str, str] | None
    ) -> AbstractContextManager[object]:
        """Record a block as a span, of the trace in `carrier`, or else of the present one."""
        ...

    def span_of(self, subject: UUID, name: str, attributes: Mapping[str, str | int]) -> AbstractContextManager[object]:
        """Record a block as a span of the subject's own trace, linked with the present span."""
        ...

    def record(
        self, subject: UUID, name: str, attributes: Mapping[str, str | int], since: int, *, is_first: bool
    ) -> None:
        """Record what ends now as a span of the subject's own trace, linked with the present span."""
        ...


_current: ContextVar[Trace | None] = ContextVar("trace", default=None)
_recorders: list[SpanRecorder] = []
"""The one of this process, if there is any."""


def record_spans(recorder: SpanRecorder) -> None:
    """Record spans with this from now on."""
    _recorders[:] = [recorder]


def span(
    name: str, attributes: Mapping[str, str | int], carrier: Mapping[str, str] | None = None
) -> AbstractContextManager[object]:
    """Record a block as a span, where spans are recorded. Attributes never hold texts, keys or bodies."""
    return _recorders[0].span(name, attributes, carrier) if _recorders else nullcontext()


def span_of(subject: UUID, name: str, attributes: Mapping[str, str | int]) -> AbstractContextManager[object]:
    """Record a block as a span of the trace that a subject has for itself, such as a conversation, by its id.

    That trace's id is the subject's. The span is linked with the present one, which is in the trace of what brought
    the block about: a request for many subjects, say.
    """
    return _recorders[0].span_of(subject, name, attributes) if _recorders else nullcontext()


def record_span_of(
    subject: UUID, name: str, attributes: Mapping[str, str | int], since: int, *, is_first: bool = False
) -> None:
    """Record what began at `since`, in nanoseconds of the epoch, and ends now, as `span_of` does.

    The first span of a subject's trace is the parent of its others, whichever is recorded before.
    """
    if _recorders:
        _recorders[0].record(subject, name, attributes, since, is_first=is_first)


def records_spans() -> bool:
    """Return whether spans are recorded, for code that would do without the call of `span`."""
    return bool(_recorders)


def continue_trace(traceparent: str | None, tracestate: str | None = None, baggage: str | None = None) -> Trace:
    """Take up the caller's trace, or begin one where the header is absent or malformed, and make it current.

    Where spans are recorded, the trace is that of the present span. Baggage that is too long, or holds what no header
    may, is left out.
    """
    trace = _trace_of(traceparent, tracestate, baggage)
    _current.set(trace)
    return trace


def _trace_of(traceparent: str | None, tracestate: str | None = None, baggage: str | None = None) -> Trace:
    present = _recorders[0].present() if _recorders else None
    match = _TRACEPARENT.fullmatch(traceparent or "")
    state = ""
    if present is not None:
        trace_id, span_id, flags = present
    elif match and match[1] != "ff" and match[2].strip("0") and match[3].strip("0"):
        trace_id, span_id, flags = match[2], secrets.token_hex(8), match[4]
    else:
        trace_id, span_id, flags = secrets.token_hex(16), secrets.token_hex(8), "01"
        match = None
    if match is not None and match[2] == trace_id:
        state = _fit(tracestate, _LONGEST_STATE)
    return Trace(trace_id, span_id, flags, state, _fit(baggage, _LONGEST_BAGGAGE))


def outgoing_headers() -> dict[str, str]:
    """Return the headers for a call made now; a call outside of any request has a trace of its own."""
    trace = _current.get()
    return (trace or _trace_of(None)).headers


def stored_trace() -> str | None:
    """Return the present trace as a row keeps it; None outside of any request."""
    trace = _current.get()
    return None if trace is None else json.dumps(trace.headers)


@contextmanager
def in_stored_trace(name: str, attributes: Mapping[str, str | int], stored: str | None) -> Iterator[None]:
    """Let a block belong to the trace that a row keeps, or to a new one where it keeps none.

    The block is a span of that trace; its calls, jobs, events and lines of the log belong to it. After the block the
    trace of before is the present one again.
    """
    carrier: dict[str, str] = json.loads(stored) if stored else {}
    with span(name, attributes, carrier), in_trace_of(carrier):
        yield


@contextmanager
def in_trace_of(carrier: Mapping[str, str]) -> Iterator[None]:
    """Let a block belong to the trace of these headers, or to a new one where there are none; it is no span."""
    trace = _trace_of(carrier.get("traceparent"), carrier.get("tracestate"), carrier.get("baggage"))
    token = _current.set(trace)
    try:
        with bound_contextvars(trace_id=trace.trace_id):
            yield
    finally:
        _current.reset(token)


def _fit(value: str | None, longest: int) -> str:
    return value if value and len(value) <= longest and _PRINTABLE.fullmatch(value) else ""
