"""The basis of an interval or a p-value: variances with their degrees of freedom, or the reason why there are none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from spotthebot.statistics.arrays import FloatArray, IntArray, defined
from spotthebot.statistics.distributions import student_quantiles


class Clusters(StrEnum):
    """Which observations vary together: observations of one conversation, of one annotator, of either, or none.

    `FIXED_PANEL` takes the annotators as fixed, so that results tell nothing about other annotators. Only conversations
    are clusters.
    """

    BOTH = "both"
    CONVERSATION = "conversation"
    ANNOTATOR = "annotator"
    FIXED_PANEL = "fixed_panel"
    NONE = "none"

    @property
    def words(self) -> str:
        """Return the description of the variance for a result."""
        return _WORDS[self]

    @property
    def has_conversations(self) -> bool:
        return self in {Clusters.BOTH, Clusters.CONVERSATION, Clusters.FIXED_PANEL}

    @property
    def has_annotators(self) -> bool:
        return self in {Clusters.BOTH, Clusters.ANNOTATOR}


POOLED: Final = "design effects pooled"
_WORDS: Final = {
    Clusters.BOTH: "clustered by conversation and annotator",
    Clusters.CONVERSATION: "clustered by conversation, annotators taken for interchangeable",
    Clusters.ANNOTATOR: "clustered by annotator",
    Clusters.FIXED_PANEL: "clustered by conversation, for this panel of annotators and no other",
    Clusters.NONE: "annotations taken for independent",
}


@dataclass(frozen=True)
class PooledEffect:
    """The design effect of one estimate of a family: the effect in use, the expected effect, and its own effect.

    A design effect is a variance, divided by the variance of as many independent observations. The expected effect is
    computed from the whole family. The effect in use has the degrees of freedom of the family; `own_degrees_of_freedom`
    belongs to its own effect. The own effect is None if all observations agree. `family` counts the pooled estimates.
    """

    design_effect: float
    expected: float
    own: float | None
    own_degrees_of_freedom: float | None
    family: int


@dataclass(frozen=True, eq=False)
class PooledEffects:
    """The design effects of m estimates, in fields with the names of `PooledEffect`, (m,) each.

    An estimate without a design effect has NaN in all fields.
    """

    design_effect: FloatArray
    expected: FloatArray
    own: FloatArray
    own_degrees: FloatArray
    family: int

    def of(self, at: int) -> PooledEffect | None:
        """Return the design effect of one estimate; None if it was not pooled."""
        if np.isnan(self.design_effect[at]):
            return None
        return PooledEffect(
            design_effect=float(self.design_effect[at]),
            expected=float(self.expected[at]),
            own=defined(self.own[at]),
            own_degrees_of_freedom=defined(self.own_degrees[at]),
            family=self.family,
        )


@dataclass(frozen=True)
class Uncertainty:
    """The basis of an interval or a p-value of one estimate. If there is neither, `reason` says why.

    `conversations` and `annotators` count the clusters that contribute to the estimate, whatever `clusters` is. Without
    two clusters of every kind that `clusters` names, there is no standard error. `pooled` is set if the standard error
    uses a pooled design effect.
    """

    standard_error: float | None
    degrees_of_freedom: float | None
    conversations: int
    annotators: int
    clusters: Clusters
    reason: str | None
    pooled: PooledEffect | None = None

    @property
    def words(self) -> str:
        """Return the description of the standard error for a result."""
        return self.clusters.words if self.pooled is None else f"{self.clusters.words}, {POOLED}"

    def unless_few_annotators(self, least: int) -> "Uncertainty":
        """Return the uncertainty. If there are fewer annotators than `least`, it has no numbers, but a reason."""
        if not self.clusters.has_annotators or self.annotators >= least or self.standard_error is None:
            return self
        return replace(
            self,
            standard_error=None,
            degrees_of_freedom=None,
            reason=f"an interval for other annotators needs at least {least} annotators, not {self.annotators}:"
            " clusters=fixed_panel gives an interval for these annotators alone",
        )


@dataclass(frozen=True, eq=False)
class ClusteredVariance:
    """Variances (m,) with their degrees of freedom; NaN if fewer than two clusters contribute to the estimate.

    `n_conversations` and `n_annotators` (m,) count the clusters. `pooled` has the design effects of a family, if they
    were pooled.
    """

    variance: FloatArray
    degrees: FloatArray
    n_conversations: IntArray
    n_annotators: IntArray
    clusters: Clusters
    pooled: PooledEffects | None = None

    @property
    def n_clusters(self) -> IntArray:
        """Return the number of clusters of each estimate; if there are two kinds of clusters, the smaller number.

        Single observations do not count as clusters.
        """
        if self.clusters is Clusters.BOTH:
            return np.minimum(self.n_conversations, self.n_annotators)
        return self.n_annotators if self.clusters is Clusters.ANNOTATOR else self.n_conversations

    def uncertainty(self, at: int) -> Uncertainty:
        """Return the uncertainty of the estimate `at`. The interval of this estimate is based on it."""
        variance, conversations, annotators = self.variance[at], self.n_conversations[at], self.n_annotators[at]
        reason = None
        if np.isnan(variance):
            known = self.clusters.has_annotators and conversations > 1
            reason = _why_unknown(int(annotators)) if known else _ONE_CONVERSATION if conversations else _NOTHING
        return Uncertainty(
            standard_error=defined(np.sqrt(variance)),
            degrees_of_freedom=defined(self.degrees[at]),
            conversations=int(conversations),
            annotators=int(annotators),
            clusters=self.clusters,
            reason=reason,
            pooled=None if self.pooled is None else self.pooled.of(at),
        )

    def quantiles(self, confidence_level: float) -> FloatArray:
        """Return Student's quantiles (m,) of two-sided intervals; NaN without a variance."""
        return student_quantiles((1 + confidence_level) / 2, self.degrees)


_ROUNDING: Final = 1e-12
"""Cluster variances this small relative to that of single observations are 0, up to the order of summation."""


def combine(
    parts: Sequence[FloatArray], degrees: Sequence[FloatArray], both: FloatArray | None, *, least: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return variances (m,) and their degrees of freedom, from one part or two parts with their degrees (m,) each.

    `both` is the part of the intersections. A variance is raised to `least` (m,), unless this is NaN.

    >>> one, other, both = (np.array([each]) for each in (3.0, 2.0, 1.0))
    >>> variance, freedom = combine([one, other], [np.array([9.0]), np.array([4.0])], both, least=both)
    >>> variance.tolist(), freedom.tolist()  # 4² / (3² / 9 + 2² / 4)
    ([4.0], [8.0])
    """
    whole: FloatArray = np.sum(parts, axis=0)
    if both is not None:
        whole = whole - both
    variance = np.maximum(whole, np.where(np.isnan(least), 0.0, least))
    if len(parts) == 1:
        return variance, degrees[0]
    spread = parts[0] ** 2 / degrees[0] + parts[1] ** 2 / degrees[1]
    clear = spread > (_ROUNDING * variance) ** 2
    return variance, np.divide(variance**2, spread, out=np.minimum(*degrees), where=clear)


_NOTHING: Final = "nothing was observed"
_ONE_ANNOTATOR: Final = (
    "all observations are of one annotator, so nothing shows how annotators differ: clusters=fixed_panel gives an"
    " interval for this one alone"
)
_FEW_ANNOTATORS: Final = (
    "annotators are too few for observations that join several of them: annotations by themselves, or"
    " clusters=fixed_panel, would have an interval"
)
_ONE_CONVERSATION: Final = "all observations are of one conversation, so nothing shows how conversations differ"


def _why_unknown(annotators: int) -> str:
    return _ONE_ANNOTATOR if annotators == 1 else f"{annotators} {_FEW_ANNOTATORS}"
