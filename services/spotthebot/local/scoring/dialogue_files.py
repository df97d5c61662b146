"""Reads files of dialogues: JSON Lines, an export of the suite, or the published FED data, which is one list."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spotthebot.fed.dialogues.domain.dialogues import Dialogue, Level, parse_dialogue
from spotthebot.fed.dialogues.domain.published_data import parse_published
from spotthebot.fed.dialogues.errors import DialogueUnusable
from spotthebot.local.scoring.errors import NotDialogues
from spotthebot.local.scoring.exported_dialogues import Row, exported_dialogue, exported_rows, is_exported


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
