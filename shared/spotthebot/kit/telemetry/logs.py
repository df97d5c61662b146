"""Structured logs: each line is a JSON object with the ids of request and trace. Secrets are blanked out."""

import json
import logging
import math
import re
import sys
import time
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import structlog

from spotthebot.kit.waits.token_bucket import TokenBucket

_SECRET_NAMES = re.compile(r"authorization|password|secret|token|api_?key|cookie|database_url", re.IGNORECASE)
_SECRET_VALUES = re.compile(r"stb_[a-z]+_[0-9a-f]{32}_[\w-]+|(?<=://)([^:/@\s]+):[^@\s]+(?=@)")
_BLANK = "[redacted]"
_MAX_PATH = 500
_SLOW_MILLISECONDS = 1000
_FAILED = 500
_requests = logging.getLogger("spotthebot.requests")


class LineBudget:
    """Allows a number of lines each second, which may all come at once. Counts the refused lines."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._bucket, self._clock, self._left_out = TokenBucket(per_second, per_second), clock, 0

    def take(self) -> int | None:
        """Return how many lines were refused since the last allowed line; None if this line is refused."""
        if self._bucket.take(self._clock()) is None:
            self._left_out += 1
            return None
        left_out, self._left_out = self._left_out, 0
        return left_out


_ordinary, _remarkable = LineBudget(math.inf), LineBudget(math.inf)


def redact(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Blank out values whose names sound secret, and API keys and URL credentials in any text."""
    for name, value in event.items():
        if not name.startswith("_"):  # the pipeline's own
            event[name] = _BLANK if _SECRET_NAMES.search(name) else _clean(value)
    return event


_EVERY_LINE: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
    redact,
]
_PIPELINE = [*_EVERY_LINE, structlog.stdlib.ProcessorFormatter.wrap_for_formatter]
"""One list for the whole process, because structlog keeps the list that a logger saw first."""


def configure_logs(service: str, level: str = "INFO", *, request_lines_per_second: float = math.inf) -> None:
    """Send the log lines of structlog and of the standard library to standard error, through the same pipeline."""
    global _ordinary, _remarkable
    _ordinary, _remarkable = LineBudget(request_lines_per_second), LineBudget(request_lines_per_second)
    structlog.configure(
        processors=_PIPELINE,
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_EVERY_LINE,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("httpx", "httpcore", "procrastinate"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    for careless in ("opentelemetry.baggage", "opentelemetry.trace"):  # they log headers of strangers
        logging.getLogger(careless).setLevel(logging.ERROR)
    structlog.contextvars.bind_contextvars(service=service)


def log_request(*, path: str, status: int, milliseconds: float, **fields: object) -> None:
    """Log one answered request. If lines come too fast, only count it: the next line has the count as `left_out`.

    Slow and failed requests have a budget of their own, which ordinary requests can't use up. The line has the same
    form as all other lines. It skips the pipeline, which costs as much processor time as a short request. Of its values
    only the path comes from outside; API keys in it are blanked out. A line that can't be written is lost.
    """
    if not _requests.isEnabledFor(logging.INFO):
        return
    left_out = (_remarkable if status >= _FAILED or milliseconds >= _SLOW_MILLISECONDS else _ordinary).take()
    if left_out is None:
        return
    line = {
        "event": "request",
        "level": "info",
        "logger": _requests.name,
        "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
        **structlog.contextvars.get_contextvars(),
        "path": _clean(path[:_MAX_PATH]),
        "status": status,
        "milliseconds": milliseconds,
        **fields,
        **({"left_out": left_out} if left_out else {}),
    }
    text = json.dumps(line) + "\n"
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler):
            with suppress(OSError, ValueError):  # the output is closed: no reason to fail a request
                handler.stream.write(text)


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return a logger whose keyword arguments become fields of the line."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


def _clean(value: object) -> object:
    match value:
        case str():
            return _SECRET_VALUES.sub(_BLANK, value)
        case dict():
            return {name: _BLANK if _SECRET_NAMES.search(str(name)) else _clean(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_clean(inner) for inner in value]
        case None | bool() | int() | float():
            return value
        case _:
            return _clean(repr(value))
