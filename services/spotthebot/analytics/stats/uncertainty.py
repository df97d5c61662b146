"""What an interval or a p-value stands on: variances with their degrees of freedom, and why there are none."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import defined
from spotthebot.analytics.stats.distributions import student_quantiles


class Clusters(StrEnum):
    """Which observations vary together: those of one conversation, of one annotator, of either, or none.

    `FIXED_PANEL` takes the annotators as they are and says nothing of others: clusters are conversations alone.
    """

    BOTH = "both"
    CONVERSATION = "conversation"
    ANNOTATOR = "annotator"
    FIXED_PANEL = "fixed_panel"
    NONE = "none"

    @property
    def words(self) -> str:
        """What a result says of its variance."""
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
    """The design effect of one estimate of a family: that in use, what the family leads to expect, and its own.

    A design effect is a variance over that of as many independent observations. The degrees of freedom of the one in
    use are the family's, those of the own one are beside it; the own one is None where all observations agree.
    `family` counts the estimates that were pooled.
    """

    design_effect: float
    expected: float
    own: float | None
    own_degrees_of_freedom: float | None
    family: int


@dataclass(frozen=True, eq=False)
class PooledEffects:
    """The design effects of m estimates, by the names of `PooledEffect`: (m,) each, NaN where there is none."""

    design_effect: FloatArray
    expected: FloatArray
    own: FloatArray
    own_degrees: FloatArray
    family: int

    def of(self, at: int) -> PooledEffect | None:
        """Return the effect of one estimate, None where it was not pooled."""
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
    """What an interval or a p-value of one estimate stands on; `reason` says why there is neither.

    `conversations` and `annotators` count the clusters that have a part in the estimate, whatever `clusters` takes for
    them. Without two clusters of every kind that `clusters` names there is no standard error. `pooled` is there where
    the standard error is that of a pooled design effect.
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
        """What a result says of its standard error."""
        return self.clusters.words if self.pooled is None else f"{self.clusters.words}, {POOLED}"

    def unless_few_annotators(self, least: int) -> "Uncertainty":
        """Withhold what fewer annotators than `least` cannot tell, with the reason."""
        if not self.clusters.has_annotators or self.annotators >= least or self.standard_error is None:
            return self
        return replace(
            self,
            standard_error=None,
            degrees_of_freedom=None,
            reason=f"an interval for other annotators needs at least {least} annotators, not {self.annotators}:"
            " `fixed_panel` gives an interval for these annotators alone",
        )


@dataclass(frozen=True, eq=False)
class ClusteredVariance:
    """Variances (m,) with their degrees of freedom, NaN where fewer than two clusters have a part in the estimate.

    `n_conversations` and `n_annotators` (m,) count the clusters. `pooled` has the design effects of a family, where
    they were pooled.
    """

    variance: FloatArray
    degrees: FloatArray
    n_conversations: IntArray
    n_annotators: IntArray
    clusters: Clusters
    pooled: PooledEffects | None = None

    @property
    def n_clusters(self) -> IntArray:
        """The number of clusters, of the kind with fewer where there are two kinds; observations are not counted."""
        if self.clusters is Clusters.BOTH:
            return np.minimum(self.n_conversations, self.n_annotators)
        return self.n_annotators if self.clusters is Clusters.ANNOTATOR else self.n_conversations

    def uncertainty(self, at: int) -> Uncertainty:
        """Return what the interval of one statistic stands on."""
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


_NOTHING: Final = "nothing was observed"
_ONE_ANNOTATOR: Final = (
    "all is of one annotator, so nothing tells how annotators differ: `fixed_panel` would speak of this one alone"
)
_FEW_ANNOTATORS: Final = (
    "annotators are too few for observations that join several of them: annotations by themselves, or `fixed_panel`,"
    " would have an interval"
)
_ONE_CONVERSATION: Final = "all is of one conversation, so nothing tells how conversations differ"


def _why_unknown(annotators: int) -> str:
    return _ONE_ANNOTATOR if annotators == 1 else f"{annotators} {_FEW_ANNOTATORS}"
