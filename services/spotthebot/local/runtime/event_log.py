"""The log of events of the suite's processes, in JSON lines like the services' logs."""

import json
from contextlib import closing, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from spotthebot.kit.processes.log_file import LogFile
from spotthebot.kit.processes.spec import Event

_REMARKABLE = {"hung", "died"}


def log_event(folder: Path, event: Event) -> None:
    """Append an event to `supervisor.log` in a folder of logs; it is lost if the disk is full."""
    facts = {name: value for name, value in asdict(event).items() if name not in {"name", "kind"} and value is not None}
    entry = {
        "timestamp": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "level": "warning" if event.kind in _REMARKABLE else "info",
        "event": f"process.{event.kind}",
        "process": event.name,
        **facts,
    }
    with suppress(OSError), closing(LogFile(folder / "supervisor.log")) as log:
        log.write(json.dumps(entry).encode())
