"""EmpatheticDialogues: CSV with one utterance per row; the rows of a conversation are consecutive.

The columns `conv_id`, `utterance_idx` and `utterance` are required; `context` (the emotion), `prompt` and `speaker_idx`
are optional. `_comma_` stands for a comma.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from spotthebot.conversations.corpora.domain.formats.dialogue_rules import alternating, dialogue_of
from spotthebot.conversations.corpora.domain.formats.records import Fault, Outcome, RejectedLine
from spotthebot.conversations.corpora.errors import NotThisFormat

_NEEDED = ("conv_id", "utterance_idx", "utterance")


@dataclass
class _Open:
    key: str
    line: int
    turns: list[str] = field(default_factory=list)
    speakers: list[str] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)
    fault: RejectedLine | None = None


class EmpatheticLines:
    """Parses rows and joins them to conversations. A conversation with a fault is rejected at the line of the fault.

    Raises NotThisFormat if the first line does not name the columns.
    """

    def __init__(self) -> None:
        self._columns: list[str] = []
        self._open: _Open | None = None

    def line(self, number: int, text: str) -> Iterable[Outcome]:
        """Parse one row."""
        if not self._columns:
            self._columns = [name.strip() for name in _cells(text, 0)]
            if not set(_NEEDED) <= set(self._columns):
                raise NotThisFormat(form="EmpatheticDialogues CSV", reason=f"its first line must name {_NEEDED}")
            return
        cells = _cells(text, len(self._columns))
        if len(cells) != len(self._columns):
            reason = f"has {len(cells)} columns, the first line {len(self._columns)}"
            if self._open is not None and text.startswith(self._open.key + ","):
                self._open.fault = self._open.fault or RejectedLine(number, reason)
                return
            raise Fault(reason=reason)
        yield from self._row(number, dict(zip(self._columns, cells, strict=True)))

    def end(self) -> Iterable[Outcome]:
        """Close the last conversation."""
        yield from self._closed()

    def _row(self, number: int, row: dict[str, str]) -> Iterator[Outcome]:
        if self._open is None or row["conv_id"] != self._open.key:
            yield from self._closed()
            about = {
                name: row[column] for column, name in (("context", "emotion"), ("prompt", "prompt")) if column in row
            }
            self._open = _Open(row["conv_id"], number, about={k: v.replace("_comma_", ",") for k, v in about.items()})
        opened = self._open
        expected = str(len(opened.turns) + 1)
        if row["utterance_idx"].strip() != expected and opened.fault is None:
            reason = f"utterance_idx is '{row['utterance_idx'][:20]}' where {expected} is next in '{opened.key[:60]}'"
            opened.fault = RejectedLine(number, reason)
        opened.turns.append(row["utterance"].replace("_comma_", ",").strip())
        if "speaker_idx" in row:
            opened.speakers.append(row["speaker_idx"])

    def _closed(self) -> Iterator[Outcome]:
        opened, self._open = self._open, None
        if opened is None:
            return
        if opened.fault is not None:
            yield opened.fault
            return
        try:
            if len(opened.turns) > 1:
                alternating(opened.speakers)
            yield dialogue_of(opened.line, opened.turns, key=opened.key, metadata=opened.about)
        except Fault as fault:
            yield RejectedLine(opened.line, f"conversation '{opened.key[:60]}': {fault}")


def _cells(text: str, columns: int) -> list[str]:
    """Split a row into cells, quoted like CSV or, as in the first publication, not quoted at all."""
    text = text.rstrip("\r")
    try:
        quoted = next(csv.reader([text]))
    except csv.Error:  # a field beyond csv's limit
        quoted = []
    return quoted if columns in {0, len(quoted)} else text.split(",")
