"""Whether one judge saw labelled and unlabelled units alike, which a correction takes for granted."""

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.judged.columns import Columns, JudgedUnits, LabelledRows, centred, dense, ratio, sums
from spotthebot.analytics.stats.judged.correction import difference_of

NO_LABELS: Final = "people labelled none of its units, so there is nothing to correct the judge with"
NO_ANSWERS: Final = "the judge answered for none of its units"
MOSTLY_MISSING: Final = (
    "most of the judge's answers are missing, and the others are no fair sample, so it changes nothing"
)
NONE_LABELLED: Final = "the judge answered for none of the units that people labelled"
ALL_LABELLED: Final = "people labelled all of its units, so nothing is left for the judge to save"
NONE_UNLABELLED: Final = "the judge answered for none of the units that nobody labelled, so it adds nothing"
FEW_LABELS: Final = "labels of each annotator are too few to compare them with the judge, so it changes nothing"
WIDER: Final = "the judge tells too little: the corrected interval would not be narrower, so it changes nothing"
CONSTANT: Final = "the judge always says the same, so it saves nothing"
CONSTANT_WITHIN: Final = (
    "the judge says the same of all units that are alike in bots and length, so it saves nothing: it knows no text"
)
UNALIKE: Final = (
    "the judge's answers differ between labelled and unlabelled units by more than chance: it saw labels, or is not the"
    " same judge, or the labelled units were not drawn at random"
)
_LEAST_UNITS: Final = 10
_LEVEL: Final = 0.002
_TINY: Final = 1e-300
_ROUNDING: Final = 1e-12


class Finding(NamedTuple):
    """Why a judge changes nothing about an estimate. If it `blocks`, there is no corrected estimate at all."""

    reason: str
    blocks: bool


def findings(
    rows: LabelledRows, units: JudgedUnits, m: int, study: IntArray | None = None
) -> tuple[Finding | None, ...]:
    """Return for each of m estimates why the judge can't correct it; None if it can.

    Estimates of one `study` (m,), by default all, have the same judge.
    """
    answered = ~np.isnan(units.judge)
    counts = (
        (NO_LABELS, _count(rows.statistic, m)),
        (NO_ANSWERS, _count(units.statistic[answered], m)),
        (NONE_LABELLED, _count(rows.statistic[~np.isnan(rows.judge)], m)),
        (ALL_LABELLED, _count(units.statistic[~units.labelled], m)),
        (NONE_UNLABELLED, _count(units.statistic[answered & ~units.labelled], m)),
    )
    of_units = units.statistic
    useless = (
        (MOSTLY_MISSING, mostly_missing(units, m)),
        (CONSTANT, constant(units, of_units, m)),
        (UNALIKE, unalike(rows, units, np.zeros(m, dtype=np.int64) if study is None else study)),
        (CONSTANT_WITHIN, constant(units, dense(of_units, units.stratum), m)),
    )
    found: list[Finding | None] = []
    for at in range(m):
        without = [Finding(reason, blocks=True) for reason, count in counts if not count[at]]
        without += [Finding(reason, blocks=False) for reason, applies in useless if applies[at]]
        found.append(without[0] if without else None)
    return tuple(found)


def mostly_missing(units: JudgedUnits, m: int) -> BoolArray:
    """Tell for each of m estimates whether the judge left more than half of its units without an answer."""
    missing = np.isnan(units.judge)
    return 2 * _count(units.statistic[missing], m) > _count(units.statistic, m)


def unalike(rows: LabelledRows, units: JudgedUnits, study: IntArray) -> BoolArray:
    """Tell for each of m estimates whether its judge's answers differ between labelled and unlabelled units.

    Compared are the means, the spreads and the shares of missing answers, within strata, by normal tests that are
    clustered by conversation and hold together in each study (Bonferroni). An estimate with few labelled or unlabelled
    units does not count. A judge that saw labels of one bot is not trusted for others of the same `study` (m,).
    """
    m = len(study)
    known = rows.select(~np.isnan(rows.judge)), units.select(~np.isnan(units.judge))
    means = ratio(sums(known[1].statistic, known[1].judge, m), _count(known[1].statistic, m))
    spread = _spread(known[0], means), _spread(known[1], means)
    missing = _missing(rows), _missing(units)
    found = np.abs([scores(labelled, every, m) for labelled, every in (known, spread, missing)])
    enough = np.minimum(_count(rows.statistic, m), _count(units.statistic[~units.labelled], m)) >= _LEAST_UNITS
    tests = 3 * np.maximum(np.bincount(study[enough], minlength=int(study.max(initial=0)) + 1), 1)
    different = (found > -scipy.special.ndtri(_LEVEL / 2 / tests[study])).any(axis=0) & enough
    return np.bincount(study[different], minlength=len(tests))[study] > 0


def scores(rows: LabelledRows, units: JudgedUnits, m: int) -> FloatArray:
    """Return the differences over their standard errors (m,), 0 where nothing varies.

    The errors take the variance of all units, since the variance of a few labelled units is too uncertain.
    """
    variance = _variance(units, m)
    share = rows.weight / np.maximum(sums(rows.statistic, rows.weight, m), _TINY)[rows.statistic]
    at = dense(rows.conversation) * m + rows.statistic
    of_conversations = np.bincount(at, weights=share).astype(np.float64)
    effective = sums(np.arange(len(of_conversations)) % m, of_conversations**2, m)
    open_share = ratio(_count(units.statistic[~units.labelled], m).astype(np.float64), _count(units.statistic, m))
    error = np.sqrt(variance * effective * open_share)
    found: FloatArray = np.divide(
        difference_of(rows, units, m).difference, error, out=np.zeros(m), where=error > _ROUNDING
    )
    return found


def _variance(units: JudgedUnits, m: int) -> FloatArray:
    """Return the variance of the values within statistics and strata (m,)."""
    left = centred(units.judge, np.ones(len(units.judge)), dense(units.statistic, units.stratum))
    return ratio(sums(units.statistic, left**2, m), _count(units.statistic, m))


def constant(units: JudgedUnits, group: IntArray, m: int) -> BoolArray:
    """Tell for each of m estimates whether the judge's answers in each of its groups (u,) are equal.

    Some group has two answers or more.
    """
    known = ~np.isnan(units.judge)
    statistic, judge, of = units.statistic[known], units.judge[known], group[known]
    low, high = np.full(int(group.max(initial=-1)) + 1, np.inf), np.full(int(group.max(initial=-1)) + 1, -np.inf)
    np.minimum.at(low, of, judge)
    np.maximum.at(high, of, judge)
    several = _count(statistic[np.bincount(of)[of] > 1], m) > 0
    varying: BoolArray = _count(statistic[(high > low)[of]], m) > 0
    return several & ~varying


def _spread(columns: Columns, means: FloatArray) -> Columns:
    return replace(columns, judge=(columns.judge - means[columns.statistic]) ** 2)


def _missing(columns: Columns) -> Columns:
    return replace(columns, judge=np.isnan(columns.judge).astype(np.float64))


def _count(statistic: IntArray, m: int) -> IntArray:
    return np.bincount(statistic, minlength=m)
