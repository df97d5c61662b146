"""Values as events `gen_ai.evaluation.result` of OpenTelemetry, in the JSON of OTLP that a collector reads from a file.

https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events. What the conventions have no attribute for begins with
`spotthebot.`.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from itertools import islice
from types import MappingProxyType
from typing import Final

EVENT: Final = "gen_ai.evaluation.result"
_AT_ONCE: Final = 1000
"""Events in a line of the file."""
_SCORE: Final = "gen_ai.evaluation.score.value"
_ATTRIBUTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "dimension": "gen_ai.evaluation.name",
        "value": _SCORE,
        "conversation": "gen_ai.conversation.id",
        "bot": "gen_ai.agent.name",
    }
)


def lines_of_events(table: str, nanoseconds: int) -> Iterator[tuple[bytes, int]]:
    """Yield lines of events, and how many events each holds, for the rows of a table of values.

    `nanoseconds` since 1970 is when the values were read. Empty cells have no attribute.
    """
    resource = {"attributes": [_attribute("service.name", "spotthebot")]}
    scope = {"name": "spotthebot", "version": version("spotthebot")}
    rows = csv.DictReader(io.StringIO(table, newline=""))
    while found := [*islice(rows, _AT_ONCE)]:
        logs = {"scope": scope, "logRecords": [_record(row, nanoseconds) for row in found]}
        line = {"resourceLogs": [{"resource": resource, "scopeLogs": [logs]}]}
        yield f"{json.dumps(line, ensure_ascii=False)}\n".encode(), len(found)


def _record(row: Mapping[str, str], nanoseconds: int) -> dict[str, object]:
    named = {_ATTRIBUTES.get(column, f"spotthebot.{column}"): cell for column, cell in row.items() if cell}
    return {
        "timeUnixNano": str(nanoseconds),
        "eventName": EVENT,
        "attributes": [_attribute(name, float(cell) if name == _SCORE else cell) for name, cell in named.items()],
    }


def _attribute(name: str, value: str | float) -> dict[str, object]:
    return {"key": name, "value": {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}}
