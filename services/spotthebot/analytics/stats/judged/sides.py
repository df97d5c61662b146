"""What a judge says of the sides of segments, matched with the annotations of people."""

from dataclasses import dataclass, field

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray
from spotthebot.analytics.stats.errors import AnnotationTableMalformed
from spotthebot.analytics.stats.judged.columns import dense
from spotthebot.analytics.stats.judged.values import JudgedValues


@dataclass(frozen=True, eq=False)
class JudgedSides:
    """A judge's probability of "human" for both sides of u segments, as columns; NaN where it gave no answer.

    `conversation`, `text` and `entity` (u, 2) have the codes of the `AnnotationTable` that people's labels are in. A
    segment is a conversation with a number of `exchanges`. Segments may lack labels, and labels may lack their segment.
    Without `text` each conversation has a text of its own. Raises `AnnotationTableMalformed`.
    """

    conversation: IntArray
    entity: IntArray
    exchanges: IntArray
    judge: FloatArray
    text: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        if not len(self.text):
            object.__setattr__(self, "text", self.conversation)
        if np.bincount(dense(self.conversation, self.exchanges)).max(initial=0) > 1:
            raise AnnotationTableMalformed(fault="the judge has two rows for one segment")
        known = self.judge[~np.isnan(self.judge)]
        if np.any((known < 0) | (known > 1)):
            raise AnnotationTableMalformed(fault="a probability of the judge is not between 0 and 1")


@dataclass(frozen=True, eq=False)
class MatchedRows:
    """The n rows of annotations, then the segments without labels, with the judge's answers, as columns (r, ...)."""

    n: int
    segment: IntArray
    text: IntArray
    entity: IntArray
    exchanges: IntArray
    annotator: IntArray
    judge: FloatArray


def match_sides(table: AnnotationTable, sides: JudgedSides) -> MatchedRows:
    """Return the annotations and the other segments with the judge's answers; an annotator of nobody is -1."""
    n = len(table)
    code = dense(
        *(np.concatenate([getattr(each, name) for each in (table, sides)]) for name in ("conversation", "exchanges"))
    )
    segments = int(code.max(initial=-1)) + 1
    judge = np.full((segments, 2), np.nan)
    judge[code[n:]] = sides.judge
    labelled = np.zeros(segments, dtype=np.bool_)
    labelled[code[:n]] = True
    alone = ~labelled[code[n:]]
    segment = np.concatenate([code[:n], code[n:][alone]])
    return MatchedRows(
        n=n,
        segment=segment,
        text=np.concatenate([table.text, sides.text[alone]]),
        entity=np.concatenate([table.entity, sides.entity[alone]]),
        exchanges=np.concatenate([table.exchanges, sides.exchanges[alone]]),
        annotator=np.concatenate([table.annotator, np.full(int(alone.sum()), -1)]),
        judge=judge[segment],
    )


def values_of_sides(table: AnnotationTable, sides: JudgedSides, value: FloatArray) -> JudgedValues:
    """Return the values (n, 2) of both sides of every annotation with the judge's answers, for `judged_shares`.

    Sides of one length are a stratum. Units are the sides of segments.

    >>> from spotthebot.analytics.stats.annotations import LabelCode
    >>> from spotthebot.analytics.stats.judged.values import judged_shares
    >>> table = AnnotationTable.from_rows([(0, "A", "B", 2, "human", "bot", 0), (1, "A", "B", 2, "bot", "bot", 1)])
    >>> three = np.arange(3)
    >>> judge = np.array([[0.8, 0.1], [0.2, 0.4], [0.5, 0.1]])
    >>> sides = JudgedSides(three, np.tile([0, 1], (3, 1)), np.full(3, 2), judge)
    >>> human = (table.label == LabelCode.HUMAN).astype(float)
    >>> [(each.people.estimate, round(each.judge, 3)) for each in judged_shares(values_of_sides(table, sides, human))]
    [(0.5, 0.5), (0.0, 0.2)]
    """
    rows = match_sides(table, sides)
    values = np.full((len(rows.segment), 2), np.nan)
    values[: rows.n] = value
    return JudgedValues(
        bots=table.names,
        bot=rows.entity.ravel(),
        unit=(2 * rows.segment[:, None] + np.arange(2)).ravel(),
        conversation=np.repeat(rows.text, 2),
        annotator=np.repeat(rows.annotator, 2),
        value=values.ravel(),
        judge=rows.judge.ravel(),
        stratum=np.repeat(rows.exchanges, 2),
    )
