"""The effect of longer conversations: win rates and labels by the number of exchanges seen (Table 8)."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, LabelCode
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds
from spotthebot.analytics.stats.win_rate_variance import WinRateVariance
from spotthebot.analytics.stats.wins import HUMAN_LIKENESS, count_wins, play_games
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Observations, clustered_variance, shares_of
from spotthebot.statistics.uncertainty import Clusters, Uncertainty


@dataclass(frozen=True)
class ShareInterval:
    """A share with its bounds. They are None if they cannot be computed from the data."""

    estimate: float | None
    low: float | None
    high: float | None
    uncertainty: Uncertainty


@dataclass(frozen=True)
class SegmentBot:
    """One bot at one length: its mean win rate (Eq. 1, per annotation), and the share of each label in its n labels."""

    bot: str
    win_rate: ShareInterval
    human_share: ShareInterval
    unsure_share: ShareInterval
    n: int


@dataclass(frozen=True)
class SegmentResult:
    """All bots at one number of exchanges. `ties` is the share of ties among the `n` annotations between bots."""

    exchanges: int
    ties: float | None
    n: int
    bots: tuple[SegmentBot, ...]
    confidence_level: float
    clusters: Clusters
    method: str


def segment_results(
    table: AnnotationTable,
    *,
    criterion: str = HUMAN_LIKENESS,
    confidence_level: float = 0.95,
    clusters: Clusters = Clusters.BOTH,
) -> tuple[SegmentResult, ...]:
    """Analyse each number of exchanges separately, in ascending order. Only conversations between bots count.

    >>> table = AnnotationTable(
    ...     names=("A", "B"),
    ...     conversation=np.array([0, 0]),
    ...     entity=np.array([[0, 1], [0, 1]]),
    ...     exchanges=np.array([2, 3]),
    ...     label=np.array([[2, 0], [0, 0]]),
    ...     annotator=np.array([0, 0]),
    ... )
    >>> [(each.exchanges, each.ties, each.bots[0].win_rate.estimate) for each in segment_results(table)]
    [(2, 0.0, 1.0), (3, 1.0, None)]
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    between = table.between_bots()
    return tuple(
        _one_length(between.select(between.exchanges == exchanges), criterion, confidence_level, clusters)
        for exchanges in np.unique(between.exchanges).tolist()
    )


def _one_length(table: AnnotationTable, criterion: str, confidence_level: float, clusters: Clusters) -> SegmentResult:
    games = play_games(table, criterion=criterion)
    counts = count_wins(games)
    rates = WinRateVariance(games, clusters).means
    low, high = share_bounds(*rates, confidence_level)
    human, unsure = (
        _label_shares(table, label, confidence_level, clusters) for label in (LabelCode.HUMAN, LabelCode.UNSURE)
    )
    labels = np.bincount(table.entity.ravel(), minlength=len(table.names))
    code = [table.names.index(bot) for bot in table.bots]
    return SegmentResult(
        exchanges=int(table.exchanges[0]),
        ties=defined(counts.tie_rate),
        n=counts.n,
        bots=tuple(
            SegmentBot(
                bot=bot,
                win_rate=ShareInterval(
                    defined(rates.share[i]), defined(low[i]), defined(high[i]), rates.variance.uncertainty(i)
                ),
                human_share=human[e],
                unsure_share=unsure[e],
                n=int(labels[e]),
            )
            for i, (bot, e) in enumerate(zip(table.bots, code, strict=True))
        ),
        confidence_level=confidence_level,
        clusters=clusters,
        method=f"per annotation; {METHOD}, {clusters.words}",
    )


def _label_shares(
    table: AnnotationTable, label: LabelCode, confidence_level: float, clusters: Clusters
) -> list[ShareInterval]:
    """Return the share of one label for each entity of `names`."""
    hits = (table.label.ravel() == label).astype(np.float64)
    share, n, influence = shares_of(table.entity.ravel(), hits, len(table.names))
    sides = Observations(np.repeat(table.text, 2), np.repeat(table.annotator, 2))
    variance = clustered_variance(sides, influence, clusters)
    low, high = share_bounds(share, n, variance, confidence_level)
    return [
        ShareInterval(defined(share[e]), defined(low[e]), defined(high[e]), variance.uncertainty(e))
        for e in range(len(table.names))
    ]
