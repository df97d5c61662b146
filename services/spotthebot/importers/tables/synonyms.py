"""What columns and values are called elsewhere, from the document beside this module."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

_DOCUMENT = Path(__file__).with_name("synonyms.json")
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
_BEGINS_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_IN_BRACKETS = re.compile(r"\([^)]*\)|\[[^]]*\]")
FIELDS: Final = "fields"
LABELS: Final = "labels"
PREFERENCES: Final = "preferences"


@cache
def synonyms(kind: str) -> Mapping[str, tuple[str, ...]]:
    """Return the words for each field, label or preference, the likeliest first."""
    return {name: tuple(words) for name, words in _read()[kind].items()}


@cache
def names_of(group: str) -> frozenset[str]:
    """Return what `people`, `assistants` or `prompted_annotators` are called, in lower case."""
    return frozenset(_read()[group])


def plain(name: str) -> str:
    """Return a column's name as it is compared: words and numbers in lower case with `_` between them."""
    return _BETWEEN_WORDS.sub("_", _BEGINS_WORD.sub("_", name).lower()).strip("_")


def without_brackets(name: str) -> str:
    """Return a column's name without what it says in brackets, such as the scale."""
    return _IN_BRACKETS.sub(" ", name)


@cache
def _read() -> dict[str, dict[str, list[str]]]:
    document: dict[str, dict[str, list[str]]] = json.loads(_DOCUMENT.read_text(encoding="utf-8"))
    return document
