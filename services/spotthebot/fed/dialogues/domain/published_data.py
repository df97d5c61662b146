"""The published FED data: contexts, each with the ratings of five people (Mehri & Eskenazi 2020, section 3)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spotthebot.fed.dialogues.domain.dialogues import Dialogue, Level, Turn, has_half_a_character
from spotthebot.fed.dialogues.errors import DialogueUnusable

_SPEAKERS: Final = ("User", "System")
_FIELDS: Final = {"context", "response", "system", "annotations"}
DIMENSION_OF_LABEL: Final = {"Understanding": "understand"}
"""The labels whose names differ from their dimensions' names by more than capital letters."""


@dataclass(frozen=True)
class RatedDialogue:
    """A published dialogue with its ratings. They are about its last turn, or about the whole dialogue: see `level`.

    `ratings` holds the ratings of each label. "N/A" and texts are NaN.
    """

    dialogue: Dialogue
    level: Level
    system: str
    ratings: Mapping[str, tuple[float, ...]]

    def mean_rating(self, label: str) -> float:
        """Return the mean of a label's ratings; NaN if there is none."""
        given = [value for value in self.ratings.get(label, ()) if not math.isnan(value)]
        return math.fsum(given) / len(given) if given else math.nan


def parse_published(document: object, number: int) -> RatedDialogue:
    """Read one entry of the published list; its id becomes `fed-<number>`. Raises DialogueUnusable.

    The ratings of an entry with a response are about this turn. The ratings of other entries are about the whole
    dialogue. Each line of the context is a turn, which begins with `User: ` or `System: `.
    """
    if not isinstance(document, dict) or not isinstance(document.get("context"), str):
        raise DialogueUnusable(reason="it is not an entry of the published FED data: it has no context")
    if unknown := sorted(set(document) - _FIELDS):
        raise DialogueUnusable(reason=f"it has the unknown key '{str(unknown[0])[:60]}'")
    response = document.get("response")
    lines = [*document["context"].split("\n"), *([response] if isinstance(response, str) else [])]
    turns = tuple(_turn(line, at) for at, line in enumerate(lines, start=1))
    annotations = document.get("annotations", {})
    if not isinstance(annotations, dict) or not all(isinstance(values, list) for values in annotations.values()):
        raise DialogueUnusable(reason="its annotations are not lists by label")
    if any(map(has_half_a_character, annotations)):
        raise DialogueUnusable(reason="a label of its annotations has half a surrogate pair")
    return RatedDialogue(
        dialogue=Dialogue(f"fed-{number}", turns),
        level=Level.DIALOGUE if response is None else Level.TURN,
        system=str(document.get("system", "")),
        ratings={label: _ratings(values) for label, values in annotations.items()},
    )


def _turn(line: str, number: int) -> Turn:
    speaker, colon, text = line.partition(":")
    if not colon or speaker not in _SPEAKERS:
        raise DialogueUnusable(reason=f"turn {number} must begin with 'User:' or 'System:'")
    return Turn(speaker, text.removeprefix(" "))


def _ratings(values: Sequence[Any]) -> tuple[float, ...]:
    return tuple(map(_rating, values))


def _rating(value: object) -> float:
    """Return a value as a number.

    It is NaN for a value that is not a number, and for an integer too large for a float.
    """
    try:
        return float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return math.nan
