"""How long a bot passes unnoticed: survival curves from annotations made at a few inspection times.

Each side of each annotation is current-status data: labelled "bot" after k exchanges means spotted somewhere in
(0, k], any other label means not spotted by k. The NPMLE of S(k) is then one minus an isotonic regression.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, BoolArray, FloatArray, IntArray, LabelCode
from spotthebot.analytics.stats.bootstrap import cluster_counts, defined, percentile_interval, resampled_totals
from spotthebot.analytics.stats.randomness import Seed, seed_of
from spotthebot.analytics.stats.survival.isotonic import isotonic_shares


@dataclass(frozen=True, eq=False)
class CurrentStatus:
    """One row per side of an annotation, (m,) each: `entity` indexes `names`, `time` indexes `times` (exchanges).

    `leads` holds, per feature, 1 where this side was preferred over the other, -1 where the other was, 0 for equal.
    """

    names: tuple[str, ...]
    times: IntArray
    entity: IntArray
    time: IntArray
    spotted: BoolArray
    conversation: IntArray
    annotator: IntArray
    leads: Mapping[str, IntArray]

    def counts(self) -> tuple[IntArray, IntArray]:
        """Count inspections and spottings per entity and time: two arrays (entities, times)."""
        shape = (len(self.names), len(self.times))
        cell, cells = self.entity * len(self.times) + self.time, len(self.names) * len(self.times)
        inspected = np.bincount(cell, minlength=cells).reshape(shape)
        return inspected, np.bincount(cell[self.spotted], minlength=cells).reshape(shape)


@dataclass(frozen=True)
class SurvivalCurve:
    """One entity's S(k) at its own inspection times `times`; S(0) = 1 is not listed.

    All tuples run along `times` and are empty for an entity that was never inspected.
    """

    bot: str
    times: tuple[int, ...]
    estimate: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    inspected: tuple[int, ...]
    spotted: tuple[int, ...]
    n: int
    confidence_level: float
    n_resamples: int
    method: str
    seed: int | None


def current_status(table: AnnotationTable) -> CurrentStatus:
    """Read both sides of every annotation as current-status data; rows alternate first and second speaker.

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
        conversation=np.repeat(table.conversation, 2),
        annotator=np.repeat(table.annotator, 2),
        leads={name: (values - values[:, ::-1]).ravel() for name, values in table.features.items()},
    )


def survival_curves(
    status: CurrentStatus, *, confidence_level: float = 0.95, n_resamples: int = 1000, seed: Seed = 0
) -> tuple[SurvivalCurve, ...]:
    """Estimate S(k) for every entity in the order of `names`, with pointwise bounds.

    Bounds are percentiles of a bootstrap of whole conversations, taken over the replicates in which the entity was
    inspected at that time. A time at which an entity was never inspected is left out of its curve.

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
    inspected, spotted = status.counts()
    survival = 1 - isotonic_shares(spotted.astype(np.float64), inspected.astype(np.float64))
    drawn_inspected, drawn_spotted = _resampled_counts(status, n_resamples, seed)
    low, high = percentile_interval(1 - isotonic_shares(drawn_spotted, drawn_inspected), confidence_level)
    curves = []
    for i, name in enumerate(status.names):
        seen = np.flatnonzero(inspected[i])
        curves.append(
            SurvivalCurve(
                bot=name,
                times=tuple(status.times[seen].tolist()),
                estimate=tuple(survival[i, seen].tolist()),
                low=tuple(defined(bound) for bound in low[i, seen]),
                high=tuple(defined(bound) for bound in high[i, seen]),
                inspected=tuple(inspected[i, seen].tolist()),
                spotted=tuple(spotted[i, seen].tolist()),
                n=int(inspected[i].sum()),
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                method="NPMLE, percentile bootstrap of conversations",
                seed=seed_of(seed),
            )
        )
    return tuple(curves)


def _resampled_counts(status: CurrentStatus, n_resamples: int, seed: Seed) -> tuple[FloatArray, FloatArray]:
    shape = (len(status.names), len(status.times), 2)
    cell = (status.entity * len(status.times) + status.time) * 2 + status.spotted
    by_conversation = cluster_counts(status.conversation, cell, int(np.prod(shape)))
    drawn = resampled_totals(by_conversation, n_resamples, seed).reshape(n_resamples, *shape)
    return drawn.sum(axis=-1), drawn[..., 1]
