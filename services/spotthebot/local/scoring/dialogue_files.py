"""Reads files of dialogues: JSON Lines, every format of the suite's exports, or the published FED data (one list)."""

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from spotthebot.contracts.conversations.conversations import ConversationState
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.fed.dialogues.domain.conversations import texts_of, turns_to_score
from spotthebot.fed.dialogues.domain.dialogues import Dialogue, Level, Turn, parse_dialogue
from spotthebot.fed.dialogues.domain.published_data import parse_published
from spotthebot.fed.dialogues.errors import DialogueUnusable
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.scoring.errors import NotDialogues

Row = tuple[int, Mapping[str, Any]]
"""A row's number, counted from 1 (of CSV, the line on which it ends), and its fields."""
_PARQUET, _ZIP = b"PAR1", b"PK\x03\x04"
_CSV: Final = ",".join(ExportedConversation.model_fields).encode()
_TEXTS: Final = frozenset({"id", "collection", "domain", "mode", "state", "ended_by", "failure"})
"""Fields of CSV that are text as they stand; the others are JSON."""
_LONGEST_CELL: Final = 64 * 2**20


@dataclass(frozen=True)
class DialogueToScore:
    """A dialogue, its line, the numbers of turns after which it is scored, and people's ratings by label."""

    line: int
    dialogue: Dialogue
    ends: tuple[int, ...]
    ratings: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class RejectedDialogue:
    """A line that can't be scored. For the published data, which is one list, `line` is the number of an entry."""

    line: int
    reason: str


@dataclass(frozen=True)
class ReadDialogues:
    """The dialogues of a file, and the lines that can't be scored."""

    dialogues: tuple[DialogueToScore, ...]
    rejected: tuple[RejectedDialogue, ...]


def read_dialogues(path: Path, level: Level, *, speaker: str | None = None) -> ReadDialogues:
    """Read the dialogues of a file; raises NotDialogues, OSError.

    With a `speaker`, only this speaker's turns are scored. In conversations that the suite exported, only turns of bots
    are scored, as by the service `fed`. From the published data, only entries of the `level` are read. They are scored
    after their last turn, because people rated them there.
    """
    content = path.read_bytes()
    if content.lstrip()[:1] == b"[":
        return _collect(_published(path, content, level))
    if (rows := exported_rows(path, content)) is not None:
        return _collect(_exported(rows, level, speaker))
    return _collect(_lines(content, level, speaker))


_Found = Iterator[tuple[int, DialogueToScore | str]]


def _collect(found: _Found) -> ReadDialogues:
    lines: dict[str, int] = {}
    dialogues: list[DialogueToScore] = []
    rejected: list[RejectedDialogue] = []
    for number, each in found:
        if isinstance(each, str):
            rejected.append(RejectedDialogue(number, each))
        elif (first := lines.setdefault(each.dialogue.id, number)) != number:
            rejected.append(RejectedDialogue(number, f"its id is that of line {first}"))
        else:
            dialogues.append(each)
    return ReadDialogues(tuple(dialogues), tuple(rejected))


def _lines(content: bytes, level: Level, speaker: str | None) -> _Found:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
            if is_exported(document):
                yield from _exported([(number, document)], level, speaker)
                continue
            dialogue = parse_dialogue(document)
            yield number, DialogueToScore(number, dialogue, dialogue.ends(level, speaker))
        except DialogueUnusable as unusable:
            yield number, unusable.reason
        except UnicodeDecodeError:
            yield number, "it is not UTF-8"
        except json.JSONDecodeError as error:
            yield number, f"it is not JSON ({error.msg})"
        except (ValueError, RecursionError):  # numbers of thousands of digits, brackets in thousands of brackets
            yield number, "its JSON can't be read: nested too deeply, or a number too long"


def _exported(rows: Iterable[Row], level: Level, speaker: str | None) -> _Found:
    for number, document in rows:
        try:
            yield number, DialogueToScore(number, *exported_dialogue(document, level, speaker))
        except DialogueUnusable as unusable:
            yield number, unusable.reason


def _published(path: Path, content: bytes, level: Level) -> _Found:
    try:
        entries = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NotDialogues(path=path, reason="it begins like a JSON list, but is not valid JSON") from error
    for number, entry in enumerate(entries, start=1):
        try:
            rated = parse_published(entry, number - 1)
        except DialogueUnusable as unusable:
            yield number, unusable.reason
            continue
        if rated.level is level:
            yield number, DialogueToScore(number, rated.dialogue, (len(rated.dialogue.turns),), rated.ratings)


def is_exported(document: object) -> bool:
    """Return whether a JSON value is a conversation of an export."""
    return isinstance(document, dict) and {"participants", "bots", "state"} <= set(document)


def exported_rows(path: Path, content: bytes) -> Iterator[Row] | None:
    """Return the rows of an export in CSV, Parquet or a Hugging Face data set; None for other files.

    While the rows are read, NotDialogues is raised if the file is damaged.
    """
    if content.startswith(_PARQUET):
        return _numbered(_parquet_rows(path, content))
    if content.startswith(_ZIP):
        return _numbered(_zip_rows(path, content))
    if content.startswith(_CSV):
        return _csv_rows(path, content)
    return None


def exported_dialogue(
    document: Mapping[str, Any], level: Level, speaker: str | None
) -> tuple[Dialogue, tuple[int, ...]]:
    """Return a conversation as a dialogue, and the numbers of turns after which it is scored.

    Like the service `fed`, this scores turns of bots; with a `speaker`, only turns of this speaker. All turns of the
    opening have the speaker `opening`. Raises DialogueUnusable.
    """
    try:
        found = ExportedConversation.model_validate_json(json.dumps(document, default=str))
    except (ValidationError, ValueError) as error:
        fault = faults_of(error)[0] if isinstance(error, ValidationError) else error
        raise DialogueUnusable(reason=f"it is not an exported conversation ({fault})") from error
    if found.state is not ConversationState.COMPLETE:
        raise DialogueUnusable(reason=f"the conversation is {found.state}, not complete")
    ends = tuple(each.end for each in turns_to_score(found, level, None if speaker is None else [speaker]))
    if not ends:
        who = "no bot" if speaker is None else f"no bot '{speaker}'"
        raise DialogueUnusable(reason=f"{who} answers in this conversation")
    names = dict(zip("AB", found.bots, strict=True))
    speakers = [*("opening" for _ in found.opening), *(names[turn.speaker] for turn in found.turns)]
    turns = tuple(Turn(*each) for each in zip(speakers, texts_of(found), strict=True))
    return Dialogue(found.id, turns), ends


def _numbered(rows: Iterator[Mapping[str, Any]]) -> Iterator[Row]:
    return enumerate(rows, start=1)


def _csv_rows(path: Path, content: bytes) -> Iterator[Row]:
    usual = csv.field_size_limit(_LONGEST_CELL)  # of all readers of this process
    try:
        lines = csv.DictReader(io.StringIO(content.decode(), newline=""), strict=True)
        for row in lines:
            cells = {name: _value(name, cell) for name, cell in row.items() if name is not None}
            yield lines.line_num, cells
    except (csv.Error, UnicodeDecodeError) as error:
        raise NotDialogues(
            path=path, reason=f"it begins like an exported CSV file, but can't be read ({error})"
        ) from error
    finally:
        csv.field_size_limit(usual)


def _value(name: str, cell: str | None) -> Any:  # noqa: ANN401 - JSON
    if not cell or name in _TEXTS:
        return cell or None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def _zip_rows(path: Path, content: bytes) -> Iterator[Mapping[str, Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as files:
            names = sorted(name for name in files.namelist() if name.startswith("data/") and name.endswith(".parquet"))
            for name in names:
                yield from _parquet_rows(path, files.read(name))
    except zipfile.BadZipFile as error:
        raise NotDialogues(path=path, reason=f"it begins like a zip file, but can't be read ({error})") from error


def _parquet_rows(path: Path, content: bytes) -> Iterator[Mapping[str, Any]]:
    import pyarrow as pa  # noqa: PLC0415 - takes 0.3 s
    from pyarrow import parquet  # noqa: PLC0415 - the same

    try:
        for batch in parquet.ParquetFile(io.BytesIO(content)).iter_batches(batch_size=1000):
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise NotDialogues(path=path, reason=f"it begins like a Parquet file, but can't be read ({error})") from error
