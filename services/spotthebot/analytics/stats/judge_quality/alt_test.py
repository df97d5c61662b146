"""The alternative annotator test, exactly as published: whether a judge may replace one of the people.

Calderon, Reichart & Dror 2025, "The Alternative Annotator Test for LLM-as-a-Judge", ACL 2025, section 3. Each annotator
is left out in turn. On each of the annotator's units, the labels of the judge and of the annotator are compared with
the labels of all others: S is the share of the others with the same label (`accuracy`), or minus the root mean squared
distance (`neg_rmse`). W(judge) is 1 if S(judge) >= S(annotator), W(annotator) is 1 if S(annotator) >= S(judge). The
null hypothesis is: the judge's mean W is at most the annotator's mean W minus `epsilon`. A one-sided t test of the
differences tests it. The tests of all annotators keep the false discovery rate (Benjamini & Yekutieli 2001). The
winning rate is the share of annotators whose null hypothesis is rejected. The judge passes from .5 on.

The t test treats the units of an annotator as independent, though units of one conversation are not.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray, last_rows
from spotthebot.analytics.stats.bootstrap import require_level
from spotthebot.analytics.stats.judge_quality.columns import require_one_length
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.columns import read_codes, read_numbers
from spotthebot.statistics.distributions import student_tails
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.whole_numbers import is_whole

EPSILON: Final = 0.1
"""The paper's value for crowd-workers; .15 is for skilled annotators, .2 for experts."""
PASSES_FROM: Final = 0.5
LEAST_PEOPLE: Final = 2
LEAST_UNITS: Final = 30


class Alignment(StrEnum):
    """How a label is compared with the labels of others: equal or not, or by the distance of numbers."""

    ACCURACY = "accuracy"
    NEG_RMSE = "neg_rmse"


@dataclass(frozen=True)
class ComparedAnnotator:
    """One annotator against the judge, over `n` units. `rejected` means that the judge wins.

    `judge` is the judge's advantage probability: the share of units on which the judge aligns with the others at least
    as well as the annotator does. `annotator_advantage` is the same for the annotator.
    """

    annotator: str
    n: int
    judge: float
    annotator_advantage: float
    p_value: float
    rejected: bool


@dataclass(frozen=True)
class AltTest:
    """The winning rate (omega), the average advantage probability (rho), and whether the judge passes.

    `n` units count. `n_annotators_left_out` annotators have fewer units than the test needs. Numbers are None with a
    `reason` if no annotator could be compared.
    """

    winning_rate: float | None
    advantage_probability: float | None
    passes: bool | None
    annotators: tuple[ComparedAnnotator, ...]
    n: int
    n_annotators_left_out: int
    epsilon: float
    false_discovery_rate: float
    alignment: Alignment
    method: str
    reason: str | None


def alt_test(  # noqa: PLR0913 - the settings of the published procedure
    unit: ArrayLike,
    annotator: ArrayLike,
    label: ArrayLike,
    judge_label: ArrayLike,
    *,
    alignment: Alignment = Alignment.ACCURACY,
    epsilon: float = EPSILON,
    false_discovery_rate: float = 0.05,
    least_people: int = LEAST_PEOPLE,
    least_units: int = LEAST_UNITS,
) -> AltTest:
    """Compare the judge's label of each unit, in `judge_label` (n,), with people's labels (n,) of these units (n,).

    Labels are numbers, or words if `alignment` is `accuracy`. A unit counts if at least `least_people` people labelled
    it and the judge's label is not missing; an annotator counts from `least_units` units on. If an annotator labelled a
    unit several times, the last label counts. Raises `SettingOutOfRange` and `ColumnMalformed`.

    >>> unit, annotator = np.repeat(np.arange(40), 2), np.tile([0, 1], 40)
    >>> found = alt_test(unit, annotator, unit % 2, unit % 2)  # all agree: all W are 1
    >>> found.winning_rate, found.advantage_probability, found.passes
    (1.0, 1.0, True)
    """
    alignment = choice_of("alignment", alignment, Alignment)
    require_level("false_discovery_rate", false_discovery_rate)
    if not 0 <= epsilon <= 1:
        raise SettingOutOfRange(setting="epsilon", allowed="from 0 to 1", value=epsilon)
    for setting, value, least in (("least_people", least_people, 2), ("least_units", least_units, 2)):
        if not is_whole(value, least):
            raise SettingOutOfRange(setting=setting, allowed=f"a whole number from {least}", value=value)
    units, people = read_codes(unit, "unit").code, read_codes(annotator, "annotator")
    given, by_judge = _labels(label, judge_label, alignment)
    require_one_length(unit=units, annotator=people.code, label=given, judge_label=by_judge)
    rows = np.flatnonzero(~np.isnan(by_judge))
    rows = rows[last_rows(np.column_stack([units[rows], people.code[rows]]))]
    size = np.bincount(units[rows], minlength=int(units.max(initial=0)) + 1)
    rows = rows[size[units[rows]] >= least_people]
    of_judge, of_person = _alignments(units[rows], given[rows], by_judge[rows], alignment)
    who = people.code[rows]
    compared, left_out = [], 0
    for code in np.unique(who).tolist():
        mine = who == code
        if mine.sum() < least_units:
            left_out += 1
            continue
        compared.append(_compared(str(people.values[code]), of_judge[mine], of_person[mine], epsilon))
    wins = _rejections(np.array([each[-1] for each in compared]), false_discovery_rate)
    annotators = tuple(ComparedAnnotator(*each, bool(win)) for each, win in zip(compared, wins, strict=True))
    rate = float(wins.mean()) if annotators else None
    return AltTest(
        winning_rate=rate,
        advantage_probability=float(np.mean([each.judge for each in annotators])) if annotators else None,
        passes=None if rate is None else rate >= PASSES_FROM,
        annotators=annotators,
        n=len(np.unique(units[rows])),
        n_annotators_left_out=left_out,
        epsilon=float(epsilon),
        false_discovery_rate=float(false_discovery_rate),
        alignment=alignment,
        method="alternative annotator test (Calderon et al. 2025); units taken for independent",
        reason=None if annotators else f"no annotator has {least_units} units that {least_people} people labelled",
    )


def _labels(label: ArrayLike, judge_label: ArrayLike, alignment: Alignment) -> tuple[FloatArray, FloatArray]:
    """Return both columns as numbers, with NaN for a missing label of the judge. Words become codes."""
    if alignment is Alignment.NEG_RMSE:
        return read_numbers(label, "label", finite=True), read_numbers(judge_label, "judge_label")
    given, by_judge = read_codes(label, "label"), read_codes(judge_label, "judge_label", missing=True)
    place = {value: float(at) for at, value in enumerate(dict.fromkeys([*given.values, *by_judge.values]))}
    of_given = np.array([place[value] for value in given.values], dtype=np.float64)
    of_judge = np.array([*(place[value] for value in by_judge.values), np.nan], dtype=np.float64)
    return of_given[given.code], of_judge[by_judge.code]


def _alignments(
    unit: IntArray, given: FloatArray, judge_label: FloatArray, alignment: Alignment
) -> tuple[FloatArray, FloatArray]:
    """Return how well the judge's and the annotator's label of each row (n,) align with the labels of the others."""
    _, at, size = np.unique(unit, return_inverse=True, return_counts=True)
    others = (size[at] - 1).astype(np.float64)
    if alignment is Alignment.NEG_RMSE:
        sums, squares = np.bincount(at, weights=given)[at] - given, np.bincount(at, weights=given**2)[at] - given**2
        of_judge, of_person = (
            -np.sqrt(np.maximum(each**2 - (2 * each * sums - squares) / others, 0.0)) for each in (judge_label, given)
        )
        return of_judge, of_person
    return _same(at, given, judge_label) / others, _same(at, given, given) / others


def _same(at: IntArray, given: FloatArray, compared: FloatArray) -> FloatArray:
    """Count, for each row, the labels of the other rows of its unit that are equal to the row's `compared`."""
    values = np.unique(np.concatenate([given, compared]))
    width = max(len(values), 1)
    counts = np.bincount(at * width + np.searchsorted(values, given), minlength=(int(at.max(initial=0)) + 1) * width)
    equal: FloatArray = counts[at * width + np.searchsorted(values, compared)] - (given == compared)
    return equal


def _compared(
    name: str, of_judge: FloatArray, of_person: FloatArray, epsilon: float
) -> tuple[str, int, float, float, float]:
    judge, person = of_judge >= of_person, of_person >= of_judge
    difference = person.astype(np.float64) - judge
    n, lead, spread = len(difference), epsilon - float(difference.mean()), float(difference.std(ddof=1))
    p_value = 0.0 if lead > 0 else 1.0
    if spread > 0:
        p_value = float(student_tails(lead / (spread / np.sqrt(n)), n - 1))
    return name, n, float(judge.mean()), float(person.mean()), p_value


def _rejections(p_values: FloatArray, rate: float) -> BoolArray:
    """Return which hypotheses are rejected by the rule of Benjamini & Yekutieli (2001)."""
    m = len(p_values)
    order, places = np.argsort(p_values, kind="stable"), np.arange(1, m + 1)
    below = np.flatnonzero(p_values[order] <= places * rate / (m * np.sum(1 / places))) if m else np.empty(0, int)
    rejected = np.zeros(m, dtype=np.bool_)
    rejected[order[: below[-1] + 1 if len(below) else 0]] = True
    return rejected
