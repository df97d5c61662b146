"""Synonyms of columns and values in other tools, from the document next to this module."""

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
    """Return the known words for each field, label or preference of this kind, the likeliest word first."""
    return {name: tuple(words) for name, words in _read()[kind].items()}


@cache
def names_of(group: str) -> frozenset[str]:
    """Return the known names for the group `people`, `assistants` or `prompted_annotators`, in lower case."""
    return frozenset(_read()[group])


def plain(name: str) -> str:
    """Return a column's name in the form for comparisons: words and numbers in lower case with `_` between them."""
    return _BETWEEN_WORDS.sub("_", _BEGINS_WORD.sub("_", name).lower()).strip("_")


def without_brackets(name: str) -> str:
    """Return a column's name without text in brackets: `rating` for `rating (1-5)`."""
    return _IN_BRACKETS.sub(" ", name)


@cache
def _read() -> dict[str, dict[str, list[str]]]:
    document: dict[str, dict[str, list[str]]] = json.loads(_DOCUMENT.read_text(encoding="utf-8"))
    return document
