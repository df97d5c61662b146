"""Survival curves, corrected by a judge that gives sides a probability of "human".

At each inspection time, a bot's survival is a share of its labels. The times of one bot share lambda. The corrected
survival of the pools of the NPMLE is made monotone again by pooling further, so that S(t) never rises.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray, LabelCode
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.judged import checks
from spotthebot.analytics.stats.judged.columns import JudgedUnits, LabelledRows, ratio, sums
from spotthebot.analytics.stats.judged.correction import correct, fit_control
from spotthebot.analytics.stats.judged.intervals import Described, Interval, describe
from spotthebot.analytics.stats.judged.sides import JudgedSides, values_of_sides
from spotthebot.analytics.stats.share_intervals import share_bounds
from spotthebot.analytics.stats.survival.curves import SurvivalCurve, current_status, survival_curves
from spotthebot.analytics.stats.survival.isotonic import isotonic_shares, pooled_blocks
from spotthebot.statistics.clustered_variance import Observations, clustered_variance, shares_of
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters

_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class JudgedCurve:
    """The survival of one bot at its inspection `times`: people's curve, and the corrected points along it."""

    bot: str
    times: tuple[int, ...]
    people: SurvivalCurve
    corrected: tuple[Interval, ...]
    labels_saved: tuple[Interval, ...]
    slope: float
    reason: str | None


def judged_survival(
    table: AnnotationTable, sides: JudgedSides, *, confidence_level: float = 0.95, study: IntArray | None = None
) -> tuple[JudgedCurve, ...]:
    """Correct the survival curve of every entity, in the order of `table.names`.

    People's curves are those of `survival_curves`. Entities of one `study`, by default all, have the same judge. Raises
    `SettingOutOfRange`.

    >>> table = AnnotationTable.from_rows([(0, "A", "B", 2, "human", "bot", 0), (1, "A", "B", 2, "bot", "bot", 1)])
    >>> judge = np.array([[0.8, 0.1], [0.2, 0.4], [0.5, 0.1]])  # of a third conversation, too
    >>> sides = JudgedSides(np.arange(3), np.tile([0, 1], (3, 1)), np.full(3, 2), judge)
    >>> [(each.bot, each.people.estimate) for each in judged_survival(table, sides)]
    [('A', (0.5,)), ('B', (0.0,))]
    """
    require_confidence_level(confidence_level)
    status = current_status(table)
    people = survival_curves(status, confidence_level=confidence_level)
    inspected, spotted = status.counts()
    e, times = inspected.shape
    survived = (table.label != LabelCode.BOT).astype(np.float64)
    values = values_of_sides(table, sides, survived)
    rows, units = values.labelled(), values.units()
    place = np.searchsorted(status.times, units.stratum)
    seen = np.isin(units.stratum, status.times)
    at_times = units.select(seen)
    at_times = JudgedUnits(
        at_times.statistic * times + place[seen],
        0 * at_times.stratum,
        at_times.conversation,
        at_times.judge,
        at_times.labelled,
    )
    cell = rows.statistic * times + np.searchsorted(status.times, rows.stratum)
    share = 1 - np.divide(spotted, inspected, out=np.zeros(inspected.shape), where=inspected > 0).ravel()
    found = checks.findings(rows, units.select(seen), e, study)
    unusable = np.repeat([each is not None for each in found], times)
    of_cells = LabelledRows(
        cell, 0 * cell, rows.conversation, rows.annotator, rows.residual - share[cell], rows.judge, rows.weight
    )
    control = fit_control(of_cells, at_times, np.repeat(np.arange(e), times)).without(unusable)
    block = _blocks(share + control.shift, inspected, spotted)
    pooled, n, influence = shares_of(block.ravel()[cell], rows.residual, int(block.max(initial=-1)) + 1)
    variance = clustered_variance(Observations(rows.conversation, rows.annotator), influence, Clusters.BOTH)
    shares = ratio(inspected.ravel().astype(np.float64), n[block.ravel()])
    weights = scipy.sparse.csr_array((shares, (block.ravel(), np.arange(e * times))), shape=(len(n), e * times))

    def bounds(at: FloatArray, spread: ClusteredVariance, worth: FloatArray) -> tuple[FloatArray, FloatArray]:
        return share_bounds(np.clip(at, 0.0, 1.0), n * worth, spread, confidence_level)

    corrected = correct(pooled, variance, control.combined(weights), bounds)
    described = describe(corrected, pooled, variance, [found[each] for each in _entities(block)], confidence_level)
    curves = []
    for at, curve in enumerate(people):
        points = _points(curve, [described[each] for each in block[at, np.flatnonzero(inspected[at])].tolist()])
        curves.append(
            JudgedCurve(
                bot=curve.bot,
                times=curve.times,
                people=curve,
                corrected=tuple(point["corrected"] for point in points),
                labels_saved=tuple(point["labels_saved"] for point in points),
                slope=points[0]["slope"] if points else 0.0,
                reason=points[0]["reason"] if points else checks.NO_LABELS,
            )
        )
    return tuple(curves)


def points_of(curve: SurvivalCurve) -> tuple[Interval, ...]:
    """Return a curve's survival at each of its times; without bounds, the reason."""
    reasons = (each.reason for each in curve.uncertainty)
    return tuple(Interval(*each) for each in zip(curve.estimate, curve.low, curve.high, reasons, strict=True))


def _points(curve: SurvivalCurve, points: list[Described]) -> list[Described]:
    """Return the corrected points, or people's where further pools made any point's interval wider than people's."""
    people = points_of(curve)
    wider = any(_width(point["corrected"]) > _width(own) + _ROUNDING for point, own in zip(points, people, strict=True))
    if not wider:
        return points
    return [
        Described({**point, "corrected": own, "slope": 0.0, "reason": point["reason"] or checks.WIDER})
        for point, own in zip(points, people, strict=True)
    ]


def _width(interval: Interval) -> float:
    return 0.0 if interval.low is None or interval.high is None else interval.high - interval.low


def _blocks(corrected: FloatArray, inspected: IntArray, spotted: IntArray) -> IntArray:
    """Return the pools (entities, times) of people's curves, pooled further where corrected survival would rise."""
    own = pooled_blocks(isotonic_shares(spotted.astype(np.float64), inspected.astype(np.float64)))
    blocks = int(own.max(initial=-1)) + 1
    n = sums(own.ravel(), inspected.ravel().astype(np.float64), blocks)
    dead = sums(own.ravel(), (inspected.ravel() * (1 - corrected)), blocks)
    spread = ratio(dead, n)[own] * inspected
    return pooled_blocks(isotonic_shares(spread, inspected.astype(np.float64)).round(12))


def _entities(block: IntArray) -> IntArray:
    found = np.zeros(int(block.max(initial=-1)) + 1, dtype=np.int64)
    found[block.ravel()] = np.repeat(np.arange(len(block)), block.shape[1])
    return found
