"""What a judge learns from and answers about: one side of a segment, with the labels of annotators."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from spotthebot.contracts.turns import Turn
from spotthebot.kit.text.words import text_hash

Side: TypeAlias = Literal["A", "B"]
_SIDES: Final[dict[str, Side]] = {"A": "A", "B": "B"}


@dataclass(frozen=True)
class GivenLabel:
    """An annotator's label of a side: whether it was "human"."""

    annotator: str
    human: bool


@dataclass(frozen=True)
class Unit:
    """A side of a segment, with its speaker and the speaker of the other side, which no model sees.

    `turns` are the turns that annotators see.
    """

    conversation: str
    speaker: str
    other: str
    side: Side
    turns: tuple[Turn, ...]
    labels: tuple[GivenLabel, ...] = field(default=())

    @property
    def key(self) -> str:
        return key_of(self.turns, self.side)

    @property
    def speakers(self) -> frozenset[str]:
        return frozenset((self.speaker, self.other))


def side_of(name: str) -> Side:
    """Return the side with this name; raises KeyError for another one."""
    return _SIDES[name]


def key_of(turns: Sequence[Turn], side: Side) -> str:
    """Return a key of a side of a segment. Segments with the same words have the same key."""
    return f"{text_hash([turn.text for turn in turns]).hex()}{side}"


def units_sha256(units: Sequence[Unit]) -> str:
    """Return a hash of everything that a training reads from the units, in their order."""
    rows = [
        [
            each.conversation,
            each.speaker,
            each.other,
            each.side,
            [[turn.speaker, turn.text] for turn in each.turns],
            [[label.annotator, label.human] for label in each.labels],
        ]
        for each in units
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
