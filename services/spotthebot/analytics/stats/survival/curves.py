"""How long a bot stays unspotted: survival curves from annotations at a few inspection times.

Each side of each annotation is current-status data. The label "bot" after k exchanges means that the bot was spotted at
some time in (0, k]. Any other label means that it was not spotted by k. The nonparametric maximum likelihood estimate
(NPMLE) of S(k), the share not spotted by k, is one minus an isotonic regression.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, BoolArray, IntArray, LabelCode, short_repr
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds
from spotthebot.analytics.stats.survival.isotonic import isotonic_shares, pooled_blocks
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Observations, clustered_variance, shares_of
from spotthebot.statistics.uncertainty import Clusters, Uncertainty


@dataclass(frozen=True, eq=False)
class CurrentStatus:
    """Inspections as columns (m,), one row for each side of an annotation.

    `entity` has indices into `names`, `time` indices into `times` (exchanges). `leads` has a column for each feature: 1
    if this side was preferred, -1 if the other side was preferred, 0 if they are equal.
    """

    names: tuple[str, ...]
    times: IntArray
    entity: IntArray
    time: IntArray
    spotted: BoolArray
    conversation: IntArray
    annotator: IntArray
    leads: Mapping[str, IntArray]

    def __repr__(self) -> str:
        return short_repr(self)

    def counts(self) -> tuple[IntArray, IntArray]:
        """Count the inspections and the spottings of each entity at each time, as two arrays (entities, times)."""
        shape = (len(self.names), len(self.times))
        cell, cells = self.entity * len(self.times) + self.time, len(self.names) * len(self.times)
        inspected = np.bincount(cell, minlength=cells).reshape(shape)
        return inspected, np.bincount(cell[self.spotted], minlength=cells).reshape(shape)


@dataclass(frozen=True)
class SurvivalCurve:
    """The survival S(k) of one entity at its own inspection times `times`. S(0) = 1 is not listed.

    All tuples run along `times` and are empty for an entity that was never inspected. Bounds are None if `uncertainty`
    has a reason.
    """

    bot: str
    times: tuple[int, ...]
    estimate: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    inspected: tuple[int, ...]
    spotted: tuple[int, ...]
    uncertainty: tuple[Uncertainty, ...]
    n: int
    confidence_level: float
    method: str


def current_status(table: AnnotationTable) -> CurrentStatus:
    """Return both sides of every annotation as current-status data. Rows alternate between first and second speaker.

    >>> from spotthebot.analytics.stats import AnnotationTable
    >>> table = AnnotationTable.from_rows(
    ...     [
    ...         (0, "A", "B", 2, "bot", "human", 0),
    ...         (0, "A", "B", 3, "human", "bot", 0),
    ...         (1, "A", "B", 3, "bot", "human", 1),
    ...     ]
    ... )
    >>> current_status(table).counts()[1].tolist()  # A is spotted after 2 and after 3, B after 3
    [[1, 1], [0, 1]]
    """
    times, time = np.unique(table.exchanges, return_inverse=True)
    return CurrentStatus(
        names=table.names,
        times=times,
        entity=table.entity.ravel(),
        time=np.repeat(time, 2),
        spotted=(table.label == LabelCode.BOT).ravel(),
        conversation=np.repeat(table.text, 2),
        annotator=np.repeat(table.annotator, 2),
        leads={name: (values - values[:, ::-1]).ravel() for name, values in table.features.items()},
    )


def survival_curves(
    status: CurrentStatus, *, confidence_level: float = 0.95, clusters: Clusters = Clusters.BOTH
) -> tuple[SurvivalCurve, ...]:
    """Estimate S(k) for every entity in the order of `names`, with bounds for each single point.

    S(k) is a share of the inspections at k and at all other times that the isotonic regression pooled with k. Its
    variance is the variance of a share, with the pools taken as fixed. A time at which an entity was never inspected is
    left out of its curve.

    >>> from spotthebot.analytics.stats import AnnotationTable
    >>> table = AnnotationTable.from_rows(
    ...     [
    ...         (0, "A", "B", 2, "bot", "human", 0),
    ...         (0, "A", "B", 3, "human", "bot", 0),
    ...         (1, "A", "B", 3, "bot", "human", 1),
    ...     ]
    ... )
    >>> curve, _ = survival_curves(current_status(table))  # spotted 1 of 1, then 1 of 2: pooled to 2 of 3
    >>> [round(value, 4) for value in curve.estimate]
    [0.3333, 0.3333]
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    inspected, spotted = status.counts()
    fitted = isotonic_shares(spotted.astype(np.float64), inspected.astype(np.float64))
    block = pooled_blocks(fitted)
    survived = (~status.spotted).astype(np.float64)
    share, n, influence = shares_of(block[status.entity, status.time], survived, int(block.max(initial=-1)) + 1)
    variance = clustered_variance(Observations(status.conversation, status.annotator), influence, clusters)
    low, high = share_bounds(share, n, variance, confidence_level)
    curves = []
    for i, name in enumerate(status.names):
        seen = np.flatnonzero(inspected[i])
        pools = block[i, seen]
        curves.append(
            SurvivalCurve(
                bot=name,
                times=tuple(status.times[seen].tolist()),
                estimate=tuple((1 - fitted[i, seen]).tolist()),
                low=tuple(defined(bound) for bound in low[pools]),
                high=tuple(defined(bound) for bound in high[pools]),
                inspected=tuple(inspected[i, seen].tolist()),
                spotted=tuple(spotted[i, seen].tolist()),
                uncertainty=tuple(variance.uncertainty(pool) for pool in pools.tolist()),
                n=int(inspected[i].sum()),
                confidence_level=confidence_level,
                method=f"nonparametric maximum-likelihood estimate (NPMLE); {METHOD}",
            )
        )
    return tuple(curves)
