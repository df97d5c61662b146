"""The ceiling: the most of people's labels that any judge can save.

A judge that sees the text can predict no more of a label than a second person's label of the same text does.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.statistics.annotator_sets import annotator_sets
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.clustered_variance import Influence, Observations, clustered_variance
from spotthebot.statistics.uncertainty import Clusters, Uncertainty

_NO_PAIRS: Final = "no two people labelled the same unit"
_ALIKE: Final = "people's labels of such units are all alike"


@dataclass(frozen=True)
class Ceiling:
    """The correlation of two people's values of one unit, with bounds; None if there are none, and `reason` says why.

    `n` counts the pairs of values, `units` the units.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    units: int
    confidence_level: float
    uncertainty: Uncertainty | None
    reason: str | None


def judge_ceiling(
    unit: IntArray,
    group: IntArray,
    conversation: IntArray,
    annotator: IntArray,
    value: FloatArray,
    *,
    confidence_level: float = 0.95,
) -> Ceiling:
    """Estimate the correlation of the values (n,) that two people gave one unit, minus the means of their `group`.

    A unit is a side of a conversation at one length. A group is a bot at a length, for fooling rates, or a pair, for
    win, tie and loss. Each pair of annotators of a unit counts once. The interval is Student's for Fisher's z, with the
    variance clustered by conversation and annotator. Raises `SettingOutOfRange`.

    >>> unit, people, value = np.repeat(np.arange(4), 2), np.tile([0, 1], 4), np.array([1.0, 1, 0, 0, 1, 0, 0, 1])
    >>> judge_ceiling(unit, 0 * unit, unit, people, value).estimate  # half of the pairs agree
    0.0
    """
    require_confidence_level(confidence_level)
    one, other = _pairs(unit, annotator)
    if not len(one):
        return Ceiling(None, None, None, 0, 0, confidence_level, None, _NO_PAIRS)
    both = np.concatenate([one, other])
    codes = np.unique(group, return_inverse=True)[1]
    n = np.bincount(codes[both])
    means = np.divide(np.bincount(codes[both], weights=value[both]), n, out=np.zeros(len(n)), where=n > 0)
    first, second = value[one] - means[codes[one]], value[other] - means[codes[other]]
    product, square = first * second, (first**2 + second**2) / 2
    units = len(np.unique(unit[one]))
    if square.sum() <= 0:
        return Ceiling(None, None, None, len(one), units, confidence_level, None, _ALIKE)
    estimate = float(product.sum() / square.sum())
    entries = np.arange(len(one))
    crews, members = annotator_sets(np.tile(entries, 2), annotator[both])
    influence = Influence(
        n_statistics=1,
        statistic=0 * entries,
        observation=entries,
        ratio=0 * entries,
        value=(product - estimate * square) / square.sum(),
        weight=np.ones(len(one)),
    )
    found = clustered_variance(Observations(conversation[one], crews, members), influence, Clusters.BOTH)
    uncertainty = found.uncertainty(0)
    inside = float(np.clip(estimate, -_EDGE, _EDGE))
    error = np.sqrt(found.variance[0]) / (1 - inside**2)
    reach = float(found.quantiles(confidence_level)[0] * error)
    low, high = np.tanh(np.arctanh(inside) - reach), np.tanh(np.arctanh(inside) + reach)
    return Ceiling(
        estimate, defined(low), defined(high), len(one), units, confidence_level, uncertainty, uncertainty.reason
    )


_EDGE: Final = 1 - 1e-9


def ceiling_of_labels(table: AnnotationTable, value: FloatArray, *, confidence_level: float = 0.95) -> Ceiling:
    """Estimate the ceiling of the values (n, 2) of both sides of every annotation, within each entity and length.

    Raises `SettingOutOfRange`.

    >>> sides = ("human", "bot")
    >>> rows = [(at, "A", "B", 2, *sides[:: 2 * (at % 2) - 1], who) for at in range(4) for who in range(2)]
    >>> table = AnnotationTable.from_rows(rows)
    >>> ceiling_of_labels(table, table.label / 2).estimate  # two people always agree
    1.0
    """
    require_confidence_level(confidence_level)
    segments = np.unique(np.column_stack([table.conversation, table.exchanges]), axis=0, return_inverse=True)[1]
    unit = (2 * segments.reshape(-1, 1) + np.arange(2)).ravel()
    return judge_ceiling(
        unit,
        (table.entity + len(table.names) * table.exchanges[:, None]).ravel(),
        np.repeat(table.text, 2),
        np.repeat(table.annotator, 2),
        value.ravel(),
        confidence_level=confidence_level,
    )


def _pairs(unit: IntArray, annotator: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of every two values of one unit by different annotators."""
    order = np.lexsort((annotator, unit))
    sizes = np.bincount(np.unique(unit, return_inverse=True)[1]) if len(unit) else np.zeros(0, dtype=np.int64)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.arange(len(unit)) - starts
    one, other = np.repeat(np.arange(len(unit)), place), _counted(place)
    other = starts[one] + other
    differ = annotator[order[one]] != annotator[order[other]]
    return order[other[differ]], order[one[differ]]


def _counted(sizes: IntArray) -> IntArray:
    """Return 0, 1, ... up to each size, one after the other."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
