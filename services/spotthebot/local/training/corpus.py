"""Reads dialogues from JSON Lines; an error names the line."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spotthebot.local.training.errors import CorpusEmpty, CorpusMalformed, CorpusMissing

Dialogue = tuple[str, ...]

TRAIN, VALIDATION = "train", "validation"
_VALIDATION_NAMES = {"validation", "valid", "val", "dev"}
_HELD_OUT = 10  # one dialogue in ten validates if a corpus has no validation split


@dataclass(frozen=True)
class Corpus:
    """Dialogues by split, `train` and `validation`; other splits are left out."""

    name: str
    dialogues: Mapping[str, Sequence[Dialogue]]


def read_corpus(path: Path) -> Corpus:
    """Read a file, or all `*.jsonl` files of a folder; raises CorpusMissing, CorpusMalformed, CorpusEmpty.

    A line is `{"turns": [...]}`, each turn a text or an object with a `text`. The split is the line's `split`, or else
    the name of its file (`train.jsonl`), or else `train`.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path] if path.is_file() else []
    if not files:
        raise CorpusMissing(path=path)
    found: dict[str, list[Dialogue]] = {}
    for file in files:
        for split, dialogue in _lines(file):
            found.setdefault(VALIDATION if split in _VALIDATION_NAMES else split, []).append(dialogue)
    return with_validation(path.stem, found)


def with_validation(name: str, dialogues: Mapping[str, Sequence[Dialogue]]) -> Corpus:
    """Return a corpus with the splits for training; without a validation split, every tenth dialogue goes into one.

    Raises CorpusEmpty.
    """
    train, validation = list(dialogues.get(TRAIN, ())), list(dialogues.get(VALIDATION, ()))
    if not train:
        raise CorpusEmpty(path=name)
    if not validation:
        validation = train[_HELD_OUT - 1 :: _HELD_OUT]
        train = [each for index, each in enumerate(train, start=1) if index % _HELD_OUT]
    return Corpus(name, {TRAIN: train, VALIDATION: validation})


def fingerprint(dialogues: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, str]:
    """Return the SHA-256 of the dialogues of each split; it depends on the order of the dialogues."""
    return {
        split: hashlib.sha256(json.dumps([list(turns) for turns in dialogues.get(split, ())]).encode()).hexdigest()
        for split in (TRAIN, VALIDATION)
    }


def _lines(file: Path) -> Iterator[tuple[str, Dialogue]]:
    by_name = file.stem if file.stem in {TRAIN, "test", *_VALIDATION_NAMES} else TRAIN
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                split, dialogue = _parsed(line)
            except json.JSONDecodeError as error:
                raise CorpusMalformed(path=file, line=number, reason=f"it is not JSON ({error.msg})") from error
            except UnicodeDecodeError as error:
                raise CorpusMalformed(path=file, line=number, reason="it is not UTF-8") from error
            except TypeError as error:
                raise CorpusMalformed(path=file, line=number, reason=error) from error
            yield split or by_name, dialogue


def _parsed(line: bytes) -> tuple[str | None, Dialogue]:
    row = json.loads(line)
    turns = row.get("turns") if isinstance(row, dict) else None
    if not isinstance(turns, list) or len(turns) < 2:
        message = "it must be an object with 'turns', a list of at least two"
        raise TypeError(message)
    texts = [turn.get("text") if isinstance(turn, dict) else turn for turn in turns]
    for index, text in enumerate(texts, start=1):
        if not isinstance(text, str) or not text.strip():
            message = f"turn {index} is empty or has no text"
            raise TypeError(message)
        if any("\ud800" <= character <= "\udfff" for character in text):
            message = f"turn {index} holds half a surrogate pair"
            raise TypeError(message)
    split = row.get("split")
    return str(split) if split else None, tuple(map(str, texts))
