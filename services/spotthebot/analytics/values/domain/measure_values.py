"""The values of one measure: as rows that say whom they are about, and as columns of codes for the statistics."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from spotthebot.analytics.stats.annotations import HUMAN, FloatArray, IntArray
from spotthebot.analytics.values.domain.value_table import RatedValue
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.measures import Measure

NOBODY: Final = ""
"""The annotator of a value that no annotator gives."""
NO_ANNOTATOR: Final = "no annotator gives these values"
"""Why there is no agreement on such values."""


class Row(NamedTuple):
    """One value: the unit that was rated, a key of its text, the annotator, the rated bot, and its opponent, if any.

    `bot` spoke in `conversation`, and `other` spoke in `other_conversation`. `exchanges` is the number of exchanges
    that the annotator saw.
    """

    unit: Hashable
    text: Hashable
    annotator: str
    bot: str | None
    value: float
    conversation: str
    turn: str = ""
    exchanges: str = ""
    other: str | None = None
    other_conversation: str = ""
    annotator_kind: AnnotatorKind = AnnotatorKind.PERSON


@dataclass(frozen=True, eq=False)
class Values:
    """The n values of one measure as columns of codes, (n,) each.

    `unit` is what was rated: values of the same unit come from different annotators. Values with the same `text` vary
    together: turns of one dialogue, and conversations with the same text. In a preference, `value` 1 means that `bot`
    was preferred, 0 that `other` was preferred. `length` has codes of the lengths that annotators saw. Codes follow
    their first occurrence. `left_out` counts answers that are not about a single bot, or do not compare two bots.
    `has_annotators` is False of values that no annotator gives.
    """

    measure: Measure
    names: tuple[str, ...]
    unit: IntArray
    text: IntArray
    annotator: IntArray
    bot: IntArray
    other: IntArray
    value: FloatArray
    length: IntArray
    left_out: int
    has_annotators: bool = True

    @classmethod
    def of(cls, measure: Measure, rows: Sequence[Row]) -> "Values":
        """Return the rows that say whom they are about, as columns of codes. People have the last code."""
        kept = [row for row in rows if row.bot is not None]
        names = sorted({name for row in kept for name in (row.bot, row.other) if name is not None})
        names = [*(name for name in names if name != HUMAN), *(name for name in names if name == HUMAN)]
        code = {name: at for at, name in enumerate(names)}
        return cls(
            measure=measure,
            names=tuple(names),
            unit=_codes(row.unit for row in kept),
            text=_codes(row.text for row in kept),
            annotator=_codes(row.annotator for row in kept),
            bot=np.fromiter((code[row.bot or ""] for row in kept), dtype=np.int64),
            other=np.fromiter((code.get(row.other or "", -1) for row in kept), dtype=np.int64),
            value=np.fromiter((row.value for row in kept), dtype=np.float64),
            length=_codes(row.exchanges for row in kept),
            left_out=len(rows) - len(kept),
            has_annotators=any(row.annotator != NOBODY for row in rows) or not rows,
        )

    @property
    def bots(self) -> tuple[str, ...]:
        """Return the names of the bots. People are left out, since they have no rank."""
        return tuple(name for name in self.names if name != HUMAN)


def rated_values(rows: Iterable[Row], seconds: float) -> Iterator[RatedValue]:
    """Yield the values that one annotation gives by one measure. A preference is one value for either bot.

    `seconds` is the time of the annotation. Each dialogue gets the whole time, in equal parts for its values.
    """
    kept = [row for row in rows if row.bot is not None]
    parts: dict[tuple[str, str | None], int] = {}
    for row in kept:
        dialogue = row.conversation, row.bot
        parts[dialogue] = parts.get(dialogue, 0) + 1
    for row in kept:
        _, _, annotator, bot, value, conversation, turn, exchanges, other, _, kind = row
        if other is None:
            share = seconds / parts[conversation, bot]
            yield RatedValue(conversation, bot or "", annotator, turn, exchanges, "", value, share, kind)
            continue
        compared = dict.fromkeys((row.conversation, row.other_conversation))
        sides = ((conversation, bot or "", value), (row.other_conversation, other, 1 - value))
        for own, side, given in sides:
            yield RatedValue(own, side, annotator, turn, exchanges, "+".join(compared), given, seconds, kind)


def _codes(values: Iterator[Hashable]) -> IntArray:
    known: dict[Hashable, int] = {}
    return np.fromiter((known.setdefault(value, len(known)) for value in values), dtype=np.int64)
