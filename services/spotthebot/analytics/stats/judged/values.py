"""Shares and means of bots, from people alone, from a judge alone, and from people corrected by the judge."""

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.judged import checks
from spotthebot.analytics.stats.judged.columns import JudgedUnits, LabelledRows, dense
from spotthebot.analytics.stats.judged.correction import Bounds, correct, fit_control
from spotthebot.analytics.stats.judged.intervals import Interval, describe
from spotthebot.analytics.stats.ratings import mean_bounds
from spotthebot.analytics.stats.share_intervals import share_bounds
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.clustered_variance import Influence, Observations, clustered_variance
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters

METHOD: Final = "PPI++, lambda within annotators and strata, variance clustered by conversation and annotator"


@dataclass(frozen=True)
class JudgedEstimate:
    """One bot's estimates. `judge` is the judge's mean over its units, which is biased.

    `n_people` counts labels, `n_judged` the units for which the judge answered, and `missing` is the share of the bot's
    units for which it did not. `slope` is lambda. `reason` says why the judge changes nothing, or why there is no
    corrected estimate.
    """

    bot: str
    n_people: int
    n_judged: int
    missing: float | None
    people: Interval
    judge: float | None
    corrected: Interval
    labels_saved: Interval
    slope: float
    reason: str | None
    confidence_level: float
    method: str


@dataclass(frozen=True, eq=False)
class JudgedValues:
    """People's values and a judge's values of units, as columns (r,): one row for each label, and for each other unit.

    `bot` has indices into `bots`. `unit` has codes of units, such as the sides of conversations at one length; all rows
    of a unit have the same bot, conversation, stratum and judge. `annotator` is -1 and `value` NaN where nobody was
    asked. `judge` is NaN where the judge gave no answer. Units of one `stratum`, such as a length, are compared with
    each other. `probability` has the chance with which a design drew the unit for people; without it, all are 1.
    """

    bots: tuple[str, ...]
    bot: IntArray
    unit: IntArray
    conversation: IntArray
    annotator: IntArray
    value: FloatArray
    judge: FloatArray
    stratum: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    probability: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        n = len(self.bot)
        if not len(self.stratum):
            object.__setattr__(self, "stratum", np.zeros(n, dtype=np.int64))
        if not len(self.probability):
            object.__setattr__(self, "probability", np.ones(n))

    def labelled(self) -> LabelledRows:
        """Return the rows that people labelled, with the values themselves as residuals."""
        return LabelledRows(
            statistic=self.bot,
            stratum=self.stratum,
            conversation=self.conversation,
            annotator=self.annotator,
            residual=self.value,
            judge=self.judge,
            weight=1 / self.probability,
        ).select(~np.isnan(self.value))

    def units(self) -> JudgedUnits:
        """Return every unit once, in the order of the codes."""
        code = dense(self.unit)
        n = int(code.max(initial=-1)) + 1
        labelled = np.bincount(code, weights=~np.isnan(self.value), minlength=n) > 0
        first = np.empty(n, dtype=np.int64)
        first[code[::-1]] = np.arange(len(code))[::-1]
        return JudgedUnits(self.bot[first], self.stratum[first], self.conversation[first], self.judge[first], labelled)


def weighted_means(
    statistic: IntArray, value: FloatArray, weight: FloatArray, m: int
) -> tuple[FloatArray, FloatArray, Influence]:
    """Return the weighted means (m,) of groups, their effective numbers of values, and the influence of each value.

    With weights of 1 these are the numbers of `shares_of`, to the last bit.
    """
    totals = np.bincount(statistic, weights=weight, minlength=m)
    squares = np.bincount(statistic, weights=weight**2, minlength=m)
    sums = np.bincount(statistic, weights=weight * value, minlength=m)
    mean = np.divide(sums, totals, out=np.full(m, np.nan), where=totals > 0)
    influence = Influence(
        n_statistics=m,
        statistic=statistic,
        observation=np.arange(len(statistic)),
        ratio=statistic,
        value=weight * (value - mean[statistic]) / totals[statistic],
        weight=weight,
    )
    return mean, np.divide(totals**2, squares, out=np.zeros(m), where=squares > 0), influence


def judged_shares(
    values: JudgedValues, *, confidence_level: float = 0.95, study: IntArray | None = None
) -> tuple[JudgedEstimate, ...]:
    """Return each bot's share, such as its fooling rate: values are 0 or 1, and the judge gives a probability.

    People's bounds are those of `fooling_rates`. Bots of one `study` (k,), by default all, have the same judge. Raises
    `SettingOutOfRange`.

    >>> nobody, nan = -1, float("nan")
    >>> columns = [np.array(each) for each in ([0] * 4, range(4), range(4), [0, 1, nobody, nobody])]
    >>> values = JudgedValues(("A",), *columns, np.array([1.0, 0.0, nan, nan]), np.full(4, 0.5))
    >>> found, = judged_shares(values)
    >>> found.people.estimate, found.judge, found.reason
    (0.5, 0.5, 'the judge always says the same, so it saves nothing')
    """
    require_confidence_level(confidence_level)
    rows = values.labelled()
    n = weighted_means(rows.statistic, rows.residual, rows.weight, len(values.bots))[1]

    def bounds(share: FloatArray, variance: ClusteredVariance, worth: FloatArray) -> tuple[FloatArray, FloatArray]:
        return share_bounds(np.clip(share, 0.0, 1.0), n * worth, variance, confidence_level)

    return _estimates(values, rows, bounds, confidence_level, study)


def judged_means(
    values: JudgedValues,
    *,
    scale: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
    study: IntArray | None = None,
) -> tuple[JudgedEstimate, ...]:
    """Return each bot's mean of any measure that people and the judge give on the same scale.

    Bounds are those of `rank_ratings`: Wilson's on a `scale` with ends, else Student's. Bots of one `study` (k,), by
    default all, have the same judge. Raises `SettingOutOfRange`.

    >>> nobody, nan = -1, float("nan")
    >>> columns = [np.array(each) for each in ([0] * 4, range(4), range(4), [0, 1, nobody, nobody])]
    >>> values = JudgedValues(("A",), *columns, np.array([4.0, 2.0, nan, nan]), np.array([4.0, 2.0, 3.0, 5.0]))
    >>> found, = judged_means(values)
    >>> found.people.estimate, found.judge
    (3.0, 3.5)
    """
    require_confidence_level(confidence_level)

    def bounds(mean: FloatArray, variance: ClusteredVariance, _: FloatArray) -> tuple[FloatArray, FloatArray]:
        inside = mean if scale is None else np.clip(mean, *scale)
        return mean_bounds(inside, variance, 1.0, scale, confidence_level)

    return _estimates(values, values.labelled(), bounds, confidence_level, study)


def _estimates(
    values: JudgedValues, labelled: LabelledRows, bounds: Bounds, confidence_level: float, study: IntArray | None
) -> tuple[JudgedEstimate, ...]:
    m, units = len(values.bots), values.units()
    mean, _, influence = weighted_means(labelled.statistic, labelled.residual, labelled.weight, m)
    people = clustered_variance(Observations(labelled.conversation, labelled.annotator), influence, Clusters.BOTH)
    rows = replace(labelled, residual=labelled.residual - mean[labelled.statistic])
    found = checks.findings(rows, units, m, study)
    control = fit_control(rows, units, np.arange(m)).without(
        np.array([each is not None for each in found], dtype=np.bool_)
    )
    answers = units.select(~np.isnan(units.judge))
    counts = [np.bincount(each.statistic, minlength=m) for each in (rows, units, answers)]
    of_judge = weighted_means(answers.statistic, answers.judge, np.ones(len(answers.judge)), m)[0]
    of_judge[checks.mostly_missing(units, m)] = np.nan
    described = describe(correct(mean, people, control, bounds), mean, people, found, confidence_level)
    return tuple(
        JudgedEstimate(
            bot=bot,
            n_people=int(counts[0][at]),
            n_judged=int(counts[2][at]),
            missing=float(1 - counts[2][at] / counts[1][at]) if counts[1][at] else None,
            judge=defined(of_judge[at]),
            confidence_level=confidence_level,
            method=METHOD,
            **described[at],
        )
        for at, bot in enumerate(values.bots)
    )
