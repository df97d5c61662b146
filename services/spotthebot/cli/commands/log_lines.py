"""Converts the JSON log lines of services to text for people."""

import json

_LEFT_OUT = {"event", "level", "logger", "timestamp", "service", "request_id", "trace_id", "linked_trace_id", "caller"}


def readable(line: str) -> str:
    """Return a JSON log line as text. Other lines are returned unchanged."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    if not isinstance(entry, dict) or "event" not in entry:
        return line
    facts = " ".join(f"{name}={value}" for name, value in entry.items() if name not in _LEFT_OUT)
    level = entry.get("level", "info")
    return f"{'' if level == 'info' else f'{level.upper()} '}{entry['event']} {facts}".rstrip()
