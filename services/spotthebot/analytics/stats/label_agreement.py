"""How often two annotators give a speaker the same label: Table 3 of Spot The Bot."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, BoolArray, IntArray, LabelCode
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds
from spotthebot.statistics.annotator_sets import annotator_sets
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Observations, clustered_variance, shares_of
from spotthebot.statistics.uncertainty import Clusters, Uncertainty


class AgreementRule(StrEnum):
    """How often a label counts that both annotators gave: twice (the published table), or once (the paper's text)."""

    PUBLISHED = "published"
    ONCE = "once"

    @property
    def method(self) -> str:
        """Return the description for a result: how labels are counted, and how bounds are computed."""
        return f"segments with two annotations, agreeing pairs {_COUNTED[self]}; {METHOD}"


LEAST_ANNOTATORS: Final = 8
"""With fewer annotators, two of whom make each pair, intervals cover the truth too seldom."""
_COUNTED: Final = {AgreementRule.PUBLISHED: "counted twice, as published", AgreementRule.ONCE: "counted once"}


@dataclass(frozen=True)
class LabelAgreement:
    """One entity and label: `agree` of the `n` labels equal the other annotator's label.

    The share is None if `n` is 0.
    """

    bot: str
    label: LabelCode
    agree: int
    n: int
    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    method: str
    uncertainty: Uncertainty


def label_agreement(
    table: AnnotationTable,
    *,
    rule: AgreementRule = AgreementRule.PUBLISHED,
    confidence_level: float = 0.95,
    clusters: Clusters = Clusters.BOTH,
) -> tuple[LabelAgreement, ...]:
    """Compare the two labels of each side of a segment, for every entity of `names` and every label.

    Annotations are counted as in the paper's table. A segment is left out unless it has exactly two annotations, by
    different annotators. A label that only one of the two gave counts once. A label that both gave counts by
    `AgreementRule`. If it counts once, agreement is a share q of sides, with the interval of a share. If it counts
    twice, agreement is 2 q / (1 + q), and its bounds are transformed in the same way. A side belongs to the clusters of
    both annotators.

    >>> table = AnnotationTable(
    ...     names=("A", "B"),
    ...     conversation=np.array([0, 0]),
    ...     entity=np.array([[0, 1], [0, 1]]),
    ...     exchanges=np.array([2, 2]),
    ...     label=np.array([[2, 0], [2, 1]]),
    ...     annotator=np.array([0, 1]),
    ... )
    >>> [(each.bot, each.label.name, each.agree, each.n) for each in label_agreement(table) if each.n]
    [('A', 'HUMAN', 2, 2), ('B', 'BOT', 0, 1), ('B', 'UNSURE', 0, 1)]
    """
    rule = choice_of("rule", rule, AgreementRule)
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    segments = np.column_stack([table.conversation, table.exchanges])
    _, segment, sizes = np.unique(segments, axis=0, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(sizes[segment] == 2)
    pairs = rows[np.argsort(segment[rows], kind="stable")].reshape(-1, 2)
    pairs = pairs[table.annotator[pairs[:, 0]] != table.annotator[pairs[:, 1]]]
    first, second = pairs.T
    crew, members = annotator_sets(np.repeat(np.arange(len(first)), 2), table.annotator[pairs.ravel()])
    # Per side of a segment: its first label, and its second if that differs.
    alike = (table.label[first] == table.label[second]).ravel()
    side, n_labels = table.entity[first].ravel() * len(LabelCode), len(table.names) * len(LabelCode)
    cell = np.concatenate([side + table.label[first].ravel(), (side + table.label[second].ravel())[~alike]])
    sides = Observations(_both_sides(table.text[first], alike), _both_sides(crew, alike), members)
    share, n, influence = shares_of(cell, np.concatenate([alike, alike[~alike]]).astype(np.float64), n_labels)
    variance = clustered_variance(sides, influence, clusters)
    low, high = share_bounds(share, n, variance, confidence_level)
    weight = 2 if rule is AgreementRule.PUBLISHED else 1
    agree = np.bincount(cell[: len(alike)][alike], minlength=n_labels)
    found = []
    for at, (name, label) in enumerate((name, label) for name in table.names for label in LabelCode):
        uncertainty = variance.uncertainty(at).unless_few_annotators(LEAST_ANNOTATORS)
        if uncertainty.standard_error is not None:
            # The slope of 2 q / (1 + q).
            slope = weight / (1 + (weight - 1) * share[at]) ** 2
            uncertainty = replace(uncertainty, standard_error=uncertainty.standard_error * float(slope))
        estimate, lowest, highest = (
            defined(weight * value[at] / (1 + (weight - 1) * value[at])) for value in (share, low, high)
        )
        found.append(
            LabelAgreement(
                bot=name,
                label=label,
                agree=int(agree[at]) * weight,
                n=int(n[at] + (weight - 1) * agree[at]),
                estimate=estimate,
                low=None if uncertainty.standard_error is None else lowest,
                high=None if uncertainty.standard_error is None else highest,
                confidence_level=confidence_level,
                method=rule.method,
                uncertainty=uncertainty,
            )
        )
    return tuple(found)


def _both_sides(of_segment: IntArray, alike: BoolArray) -> IntArray:
    sides = np.repeat(of_segment, 2)
    return np.concatenate([sides, sides[~alike]])
