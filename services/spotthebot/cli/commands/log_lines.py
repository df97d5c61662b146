"""Converts the JSON log lines of services to text for people."""

import json
import logging
from typing import Any

_LEFT_OUT = {"event", "level", "logger", "timestamp", "service", "request_id", "trace_id", "linked_trace_id", "caller"}


def readable(line: str) -> str:
    """Return a JSON log line as text, with its time in UTC. Other lines are returned unchanged."""
    entry = entry_of(line)
    if "event" not in entry:
        return line
    facts = " ".join(f"{name}={value}" for name, value in entry.items() if name not in _LEFT_OUT)
    level = entry.get("level", "info")
    time = str(entry.get("timestamp", ""))[:19].replace("T", " ")
    return f"{time} {'' if level == 'info' else f'{level.upper()} '}{entry['event']} {facts}".strip()


def is_at_least(line: str, level: str) -> bool:
    """Return whether a line has this level or a higher one. Lines that are not JSON, such as tracebacks, have it."""
    levels = logging.getLevelNamesMapping()
    found = str(entry_of(line).get("level", "critical")).upper()
    return levels.get(found, logging.CRITICAL) >= levels[level.upper()]


def entry_of(line: str) -> dict[str, Any]:
    """Return the fields of a JSON log line; none for other lines."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}
