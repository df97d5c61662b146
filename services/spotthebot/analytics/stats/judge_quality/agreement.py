"""How often a judge agrees with people, beside how often people agree with each other, on the same units.

Both agreements use the units that at least two people labelled and for which the judge has a label. A person's label
has the weight 1 in both: it meets the judge's label once, and the labels of the m - 1 others with the weight
1 / (m - 1) each. Beyond chance, agreement is Scott's pi (1955): with two labels a unit, this is Fleiss' kappa.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray, last_rows
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.coefficient_intervals import LEAST_ANNOTATORS
from spotthebot.analytics.stats.judge_quality.columns import require_one_length
from spotthebot.analytics.stats.share_intervals import share_bounds
from spotthebot.statistics.annotator_sets import annotator_sets
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Influence, Observations, clustered_parts
from spotthebot.statistics.columns import read_codes
from spotthebot.statistics.distributions import student_quantiles
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters, Uncertainty

METHOD: Final = "Scott's pi of pairs of labels; Student's t with clustered variance"
_PERFECT: Final = 1e-9
_KINDS: Final = 2
_NO_PAIRS: Final = "no unit has labels of two people and a label of the judge"
_ONE_LABEL: Final = "all labels are the same"


@dataclass(frozen=True)
class Coefficient:
    """An agreement, or a difference of two, with its bounds. `reason` says why it is None or has no bounds."""

    estimate: float | None
    low: float | None
    high: float | None
    uncertainty: Uncertainty
    reason: str | None


@dataclass(frozen=True)
class Agreement:
    """The agreement of pairs of labels: the `share` of equal pairs, and `beyond_chance`, which is Scott's pi."""

    share: Coefficient
    beyond_chance: Coefficient


@dataclass(frozen=True)
class JudgeAgreement:
    """The agreement of people with the judge and with each other, over `n` units with `n_labels` labels of people.

    `difference` is the judge's agreement beyond chance, minus that of people. Below 0, another person would agree
    better with people than the judge does.
    """

    judge: Agreement
    people: Agreement
    difference: Coefficient
    n: int
    n_labels: int
    confidence_level: float
    method: str


def judge_agreement(
    unit: ArrayLike,
    conversation: ArrayLike,
    annotator: ArrayLike,
    label: ArrayLike,
    judge_label: ArrayLike,
    *,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
) -> JudgeAgreement:
    """Compare people's labels (n,) of units (n,) with the judge's label of the same unit (n,), and with each other.

    `label` and `judge_label` have the same codes or words. A missing value (None, NaN) of `judge_label` leaves out the
    row. If an annotator labelled a unit several times, the last label counts. Raises `SettingOutOfRange` and
    `ColumnMalformed`.

    >>> found = judge_agreement([0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1], [*"hhbh"], [*"hhbb"])
    >>> found.judge.share.estimate, found.people.share.estimate  # 3 of 4 labels; 1 of 2 pairs
    (0.75, 0.5)
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    labels = _Labels.of(unit, conversation, annotator, label, judge_label)
    pairs = _Pairs.of(labels)
    agreeing = (pairs.first == pairs.second).astype(np.float64)
    share = np.array(
        [np.average(agreeing[each], weights=pairs.weight[each]) if each.any() else np.nan for each in pairs.of_kind]
    )
    pi, slope = _beyond_chance(pairs, agreeing, share)
    shares = clustered_parts(pairs.observations, pairs.influence(agreeing - share[pairs.kind]), clusters).variances()
    parts = clustered_parts(pairs.observations, pairs.influence(slope), clusters)
    low, high = share_bounds(share, pairs.counts, shares, confidence_level)
    why = _NO_PAIRS if not len(pairs.kind) else None
    found = [
        Agreement(
            share=_share(share[at], low[at], high[at], shares.uncertainty(at), why),
            beyond_chance=_bounded(pi[at], parts.variances(), at, why, confidence_level, fisher=True),
        )
        for at in range(_KINDS)
    ]
    apart = parts.differences(np.array([0]), np.array([1]))
    return JudgeAgreement(
        judge=found[0],
        people=found[1],
        difference=_bounded(pi[0] - pi[1], apart, 0, why, confidence_level, fisher=False),
        n=len(np.unique(labels.unit)),
        n_labels=len(labels.unit),
        confidence_level=confidence_level,
        method=METHOD,
    )


@dataclass(frozen=True, eq=False)
class _Labels:
    """The labels (n,) that count, ordered by unit, with the judge's label of the unit; both are codes."""

    unit: IntArray
    conversation: IntArray
    annotator: IntArray
    label: IntArray
    judge_label: IntArray

    @classmethod
    def of(
        cls, unit: ArrayLike, conversation: ArrayLike, annotator: ArrayLike, label: ArrayLike, judge_label: ArrayLike
    ) -> "_Labels":
        units, conversations, annotators = (
            read_codes(each, name).code
            for each, name in ((unit, "unit"), (conversation, "conversation"), (annotator, "annotator"))
        )
        given, by_judge = read_codes(label, "label"), read_codes(judge_label, "judge_label", missing=True)
        require_one_length(
            unit=units, conversation=conversations, annotator=annotators, label=given.code, judge_label=by_judge.code
        )
        # The same value has the same code in both columns.
        place = {value: at for at, value in enumerate(dict.fromkeys([*given.values, *by_judge.values]))}
        of_given = np.array([place[value] for value in given.values], dtype=np.int64)
        of_judge = np.array([*(place[value] for value in by_judge.values), -1], dtype=np.int64)
        columns = units, conversations, annotators, of_given[given.code], of_judge[by_judge.code]
        kept = np.flatnonzero(columns[-1] >= 0)
        kept = kept[last_rows(np.column_stack([units[kept], annotators[kept]]))]
        several = np.bincount(units[kept], minlength=int(units.max(initial=0)) + 1)[units[kept]] > 1
        kept = kept[several]
        return cls(*(each[kept[np.argsort(units[kept], kind="stable")]] for each in columns))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of labels (p,): of the judge and a person (kind 0), and of two people (kind 1)."""

    kind: IntArray
    first: IntArray
    second: IntArray
    weight: FloatArray
    observations: Observations

    @classmethod
    def of(cls, labels: _Labels) -> "_Pairs":
        n = len(labels.unit)
        _, start, size = np.unique(labels.unit, return_index=True, return_counts=True)
        one, other = _pairs_within(start, size)
        both = np.concatenate([one, other])
        place = np.concatenate([np.arange(n), np.tile(np.arange(n, n + len(one)), 2)])
        crew, members = annotator_sets(place, labels.annotator[np.concatenate([np.arange(n), both])])
        sizes = np.repeat(size, size)
        return cls(
            kind=np.repeat([0, 1], [n, len(one)]),
            first=labels.label[np.concatenate([np.arange(n), one])],
            second=np.concatenate([labels.judge_label, labels.label[other]]),
            weight=np.concatenate([np.ones(n), 2 / (sizes[one] - 1)]),
            observations=Observations(labels.conversation[np.concatenate([np.arange(n), one])], crew, members),
        )

    @property
    def of_kind(self) -> list[BoolArray]:
        return [self.kind == at for at in range(_KINDS)]

    @property
    def counts(self) -> IntArray:
        return np.bincount(self.kind, minlength=_KINDS)

    def influence(self, slope: FloatArray) -> Influence:
        totals = np.bincount(self.kind, weights=self.weight, minlength=_KINDS)
        value = slope * self.weight / totals[self.kind]
        return Influence(_KINDS, self.kind, np.arange(len(self.kind)), self.kind, value, self.weight)


def _pairs_within(start: IntArray, size: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of all pairs of rows of a unit. The rows of a unit are consecutive."""
    found = [
        start[size == each, None] + np.array(np.triu_indices(each, 1))[:, None, :] for each in np.unique(size).tolist()
    ]
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    one, other = np.concatenate([each.reshape(2, -1) for each in found], axis=1)
    return one, other


def _beyond_chance(pairs: _Pairs, agreeing: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Scott's pi of both kinds (2,), and the slope of each pair (p,): the derivative of pi along the pair."""
    pi, slope = np.full(_KINDS, np.nan), np.zeros(len(pairs.kind))
    for at, rows in enumerate(pairs.of_kind):
        if not rows.any():
            continue
        first, second, weight = pairs.first[rows], pairs.second[rows], pairs.weight[rows]
        mixed = np.bincount(np.concatenate([first, second]), weights=np.tile(weight, 2)) / (2 * weight.sum())
        by_chance = float(mixed @ mixed)
        if by_chance > 1 - _PERFECT:
            continue
        pi[at] = (share[at] - by_chance) / (1 - by_chance)
        moved = mixed[first] + mixed[second] - 2 * by_chance
        slope[rows] = (agreeing[rows] - share[at] - (1 - pi[at]) * moved) / (1 - by_chance)
    return pi, slope


def _share(share: float, low: float, high: float, uncertainty: Uncertainty, why: str | None) -> Coefficient:
    uncertainty = uncertainty.unless_few_annotators(LEAST_ANNOTATORS)
    if uncertainty.standard_error is None:
        return Coefficient(defined(share), None, None, uncertainty, why or uncertainty.reason)
    return Coefficient(defined(share), defined(low), defined(high), uncertainty, None)


def _bounded(
    estimate: float, variance: ClusteredVariance, at: int, why: str | None, level: float, *, fisher: bool
) -> Coefficient:
    """Return a coefficient with Student's bounds, on the scale of Fisher's z if `fisher`."""
    uncertainty = variance.uncertainty(at).unless_few_annotators(LEAST_ANNOTATORS)
    reason = why or (_ONE_LABEL if np.isnan(estimate) else uncertainty.reason)
    if reason is None and fisher and abs(estimate) > 1 - _PERFECT:
        reason = "all labels agree, or none does, so the data do not show how others would differ"
    if reason is not None or uncertainty.standard_error is None or uncertainty.degrees_of_freedom is None:
        uncertainty = replace(uncertainty, standard_error=None, degrees_of_freedom=None, reason=reason)
        return Coefficient(defined(estimate), None, None, uncertainty, reason)
    reach = float(student_quantiles((1 + level) / 2, uncertainty.degrees_of_freedom)) * uncertainty.standard_error
    if not fisher:
        return Coefficient(estimate, estimate - reach, estimate + reach, uncertainty, None)
    middle, reach = math.atanh(estimate), reach / (1 - estimate**2)
    return Coefficient(estimate, math.tanh(middle - reach), math.tanh(middle + reach), uncertainty, None)
