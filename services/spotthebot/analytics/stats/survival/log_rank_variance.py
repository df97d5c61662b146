"""The variances of log-rank scores: clustered by conversation and annotator, and pooled over three pairs or more.

A pool is a block of times that the nonparametric estimate (NPMLE) pooled. If the pools are taken as fixed, the score is
a sum of weighted differences of the two bots' shares. So the influence of an inspection is its score minus the mean
score of its bot in its pool. A design effect (`pooled_differences`) is the variance of the score, divided by its
variance for independent inspections of the same bots. The variance in use is the variance for independent inspections
of equal bots, times the design effect.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import HUMAN, IntArray
from spotthebot.analytics.stats.pooled_differences import SeenBots
from spotthebot.analytics.stats.survival.curves import CurrentStatus
from spotthebot.analytics.stats.survival.log_rank_scores import Pair
from spotthebot.statistics.clustered_variance import Counted, Influence, Observations, clustered_parts
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters

_ROWS_AT_ONCE: Final = 200_000
_NO_VARIANCE: Final = 1e-9
"""Smaller shares of the score's variance under independence are rounding errors."""


class PairFamily(StrEnum):
    """The family of pairs whose p-values are adjusted together: pairs of two bots, or pairs of a bot and people."""

    BOTS = "bots against bots"
    PEOPLE = "bots against people"


@dataclass(frozen=True)
class ScoredPair:
    """The score of a pair of bots, named by codes, and its variance for independent inspections of equal bots.

    `spread` is the variance for independent inspections of these two bots, divided by the variance for equal bots.
    `effect` is the pair's own design effect. If all inspections of each bot had the same outcome, `agreed_clusters`
    counts the clusters of the bot with fewer clusters.
    """

    first: int
    second: int
    family: PairFamily
    score: float
    independent_variance: float
    n: int
    undecided: str | None
    spread: float
    effect: float
    agreed_clusters: int | None

    @classmethod
    def of(
        cls,
        status: CurrentStatus,
        pair: Pair,
        *,
        spread: float = 1.0,
        effect: float = math.nan,
        agreed_clusters: int | None = None,
    ) -> "ScoredPair":
        names = {status.names[pair.first], status.names[pair.second]}
        return cls(
            first=pair.first,
            second=pair.second,
            family=PairFamily.PEOPLE if HUMAN in names else PairFamily.BOTS,
            score=pair.shared.score,
            independent_variance=pair.shared.score_variance(),
            n=len(pair.rows),
            undecided=pair.shared.why_undecided(),
            spread=spread,
            effect=effect,
            agreed_clusters=agreed_clusters,
        )


def clustered_scores(
    status: CurrentStatus, pairs: Iterable[Pair], clusters: Clusters
) -> list[tuple[ScoredPair, ClusteredVariance, int]]:
    """Return each pair, in the given order, with the variances of its family's scores, and its place in them."""
    batches = [_own_variances(status, batch, clusters) for batch in _batches(pairs)]
    scored = [pair for each, _ in batches for pair in each]
    found: dict[ScoredPair, tuple[ScoredPair, ClusteredVariance, int]] = {}
    for family in PairFamily:
        at = np.flatnonzero([pair.family is family for pair in scored])
        if len(at):
            members = [scored[each] for each in at]
            known = _pooled(status, members, _joined([own for _, own in batches], at))
            found |= {pair: (pair, known, place) for place, pair in enumerate(members)}
    return [found[pair] for pair in scored]


def _batches(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Yield batches of pairs with a limited number of rows.

    One computation for many pairs costs less than one for each.
    """
    batch: list[Pair] = []
    n_rows = 0
    for pair in pairs:
        if batch and n_rows + len(pair.rows) > _ROWS_AT_ONCE:
            yield batch
            batch, n_rows = [], 0
        batch.append(pair)
        n_rows += len(pair.rows)
    if batch:
        yield batch


def _own_variances(
    status: CurrentStatus, pairs: Sequence[Pair], clusters: Clusters
) -> tuple[list[ScoredPair], ClusteredVariance]:
    """Return the m pairs without their rows, and the variances of their scores (m,)."""
    cells, values = zip(*(pair.influence() for pair in pairs), strict=True)
    statistic = np.repeat(np.arange(len(pairs)), [len(pair.rows) for pair in pairs])
    influence = Influence(
        n_statistics=len(pairs),
        statistic=statistic,
        observation=np.concatenate([pair.rows for pair in pairs]),
        ratio=2 * len(status.times) * statistic + np.concatenate(cells),
        value=np.concatenate(values),
        weight=np.ones(len(statistic)),
    )
    parts = clustered_parts(Observations(status.conversation, status.annotator), influence, clusters)
    own, single, whole = parts.variances(), parts.single.variances(), parts.unfloored()
    scored = []
    for at, pair in enumerate(pairs):
        least = pair.shared.score_variance()
        agreed = own.variance[at] <= _NO_VARIANCE * least
        scored.append(
            ScoredPair.of(
                status,
                pair,
                spread=0.0 if agreed or not least else min(1.0, float(single[at]) / least),
                effect=math.nan if agreed else float(whole[at] / single[at]),
                agreed_clusters=pair.n_clusters(clusters) if agreed else None,
            )
        )
    return scored, own


def _joined(batches: Sequence[ClusteredVariance], at: IntArray) -> ClusteredVariance:
    """Join the variances of batches of pairs, and return the variances of the pairs at `at`."""
    variance, degrees, conversations, annotators = (
        np.concatenate([getattr(each, name) for each in batches])[at]
        for name in ("variance", "degrees", "n_conversations", "n_annotators")
    )
    return ClusteredVariance(variance, degrees, conversations, annotators, batches[0].clusters)


def _pooled(status: CurrentStatus, pairs: Sequence[ScoredPair], own: ClusteredVariance) -> ClusteredVariance:
    """Return the variances of the scores of a family's pairs. They are pooled if there are at least three pairs."""
    least = np.array([pair.independent_variance for pair in pairs])
    known = ~np.isnan(own.variance) & [pair.undecided is None for pair in pairs]
    # Satterthwaite's estimate is high if the variance of few clusters is low by chance: far in the tails, where a
    # family of many pairs is decided, that would count twice.
    at_most = np.inf if own.clusters is Clusters.NONE else np.maximum(own.n_clusters - 1, 0.5)
    # The variance under independence, if the two do not differ, is a lower limit: clusters can't reduce it.
    own = replace(own, variance=np.maximum(own.variance, least), degrees=np.minimum(own.degrees, at_most))
    seen = SeenBots(
        Observations(status.conversation, status.annotator),
        Counted(len(status.names), status.entity, np.arange(len(status.entity))),
        first=np.array([pair.first for pair in pairs]),
        second=np.array([pair.second for pair in pairs]),
    )
    effect, spread = (np.array([getattr(pair, name) for pair in pairs]) for name in ("effect", "spread"))
    return seen.pool(own, known, least, effect, spread)
