"""The rules for every dialogue, whatever its source."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from spotthebot.conversations.corpora.domain.formats.records import Fault, ReadDialogue

_MAX_TURNS = 1000
_LONGEST_TURN = 20_000
_LONGEST_KEY = 200
_LARGEST_METADATA = 20_000
_SPLIT = re.compile(r"[a-z][a-z0-9_-]{0,49}")


def object_of(line: str) -> dict[str, Any]:
    """Parse a line that holds one JSON object; raises Fault."""
    try:
        found = json.loads(line, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise Fault(reason=f"is not JSON: {error.msg} at character {error.colno}") from None
    except (RecursionError, ValueError):  # nested too deeply; a number of thousands of digits
        raise Fault(reason="is JSON that cannot be read: nested too deeply, or a number too long") from None
    if not isinstance(found, dict):
        raise Fault(reason="is not a JSON object")
    return found


def list_of(found: Mapping[str, Any], field: str) -> list[Any]:
    """Return a field, which must be a list; raises Fault."""
    value = found.get(field)
    if not isinstance(value, list):
        raise Fault(reason=f"has no list '{field}'")
    return value


def text_of(found: object, what: str) -> str:
    """Return a value, which must be a text; raises Fault. `what` names it in the error."""
    if not isinstance(found, str):
        raise Fault(reason=f"{what} is not a text")
    return found


def dialogue_of(
    line: int,
    turns: Sequence[str],
    *,
    key: str | None = None,
    split: str | None = None,
    persona: tuple[str, str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> ReadDialogue:
    """Check and return a dialogue; if it has no key, a hash of its turns becomes the key. Raises Fault."""
    _check_turns(turns)
    if key is not None:
        if not 0 < len(key) <= _LONGEST_KEY:
            raise Fault(reason=f"the key has {len(key)} characters: 1 to {_LONGEST_KEY} are possible")
        _check_characters(key, "the key")
    if split is not None and not _SPLIT.fullmatch(split):
        rule = "use up to 50 small letters, digits, - and _"
        raise Fault(reason=f"'{split[:60]}' is not a valid name of a split: {rule}")
    for number, text in enumerate(persona or (), 1):
        _check_characters(text, f"persona {number}")
    return ReadDialogue(line, key or content_key(turns), tuple(turns), split, persona, _metadata(metadata))


def alternating(speakers: Sequence[object]) -> None:
    """Raise Fault unless two speakers alternate."""
    names = list(dict.fromkeys(map(str, speakers)))
    if len(names) == 1 and len(speakers) > 1:
        raise Fault(reason=f"has one speaker only, '{names[0][:60]}'")
    for number, speaker in enumerate(speakers, 1):
        if str(speaker) != names[(number - 1) % 2]:
            raise Fault(reason=f"turn {number} is by '{str(speaker)[:60]}': two speakers must alternate")


def content_key(turns: Sequence[str]) -> str:
    """Return a key for a dialogue that has none; equal turns give equal keys."""
    return "sha256-" + hashlib.sha256(json.dumps(list(turns)).encode()).hexdigest()[:40]


def _check_turns(turns: Sequence[str]) -> None:
    if not turns:
        raise Fault(reason="is an empty dialogue")
    if len(turns) == 1:
        raise Fault(reason="has one turn only: a dialogue has two speakers")
    if len(turns) > _MAX_TURNS:
        raise Fault(reason=f"has {len(turns)} turns: at most {_MAX_TURNS} are accepted")
    for number, turn in enumerate(turns, 1):
        if not turn.strip():
            raise Fault(reason=f"turn {number} is empty")
        if len(turn) > _LONGEST_TURN:
            raise Fault(reason=f"turn {number} has {len(turn):,} characters: at most {_LONGEST_TURN:,} are accepted")
        _check_characters(turn, f"turn {number}")


def _metadata(metadata: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if not metadata:
        return None
    try:
        size = len(json.dumps(metadata, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:  # half a surrogate pair; a number beyond what a float holds
        raise Fault(reason="the metadata holds a value that JSON in UTF-8 can't hold") from None
    if size > _LARGEST_METADATA:
        raise Fault(reason=f"the metadata takes {size:,} bytes: at most {_LARGEST_METADATA:,} are accepted")
    if "\\u0000" in json.dumps(metadata):
        raise Fault(reason="the metadata contains a NUL character")
    return metadata


def _check_characters(text: str, what: str) -> None:
    if "\x00" in text:
        raise Fault(reason=f"{what} contains a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Fault(reason=f"{what} contains half a surrogate pair") from None


def _no_number(name: str) -> NoReturn:
    message = f"{name} is no JSON"
    raise ValueError(message)
