"""W3C trace context: the `traceparent` that came in goes on to the services we call, with a span of our own."""

import re
import secrets
from contextvars import ContextVar
from dataclasses import dataclass

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


@dataclass(frozen=True)
class Trace:
    """The trace a request belongs to, and our span in it."""

    trace_id: str
    span_id: str
    flags: str = "01"

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


_current: ContextVar[Trace | None] = ContextVar("trace", default=None)


def continue_trace(traceparent: str | None) -> Trace:
    """Take up the caller's trace, or begin one where the header is absent or malformed, and make it current."""
    match = _TRACEPARENT.fullmatch(traceparent or "")
    if match and match[1] != "ff" and match[2].strip("0") and match[3].strip("0"):
        trace = Trace(match[2], secrets.token_hex(8), match[4])
    else:
        trace = Trace(secrets.token_hex(16), secrets.token_hex(8))
    _current.set(trace)
    return trace


def outgoing_traceparent() -> str:
    """Return the header for a call made now; a call outside of any request begins a trace."""
    trace = _current.get()
    return trace.traceparent if trace else continue_trace(None).traceparent
