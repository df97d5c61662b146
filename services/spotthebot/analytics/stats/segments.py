"""What more exchanges change: win rates and labels by the number of exchanges seen (Table 8 of Spot The Bot)."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, LabelCode
from spotthebot.analytics.stats.bootstrap import cluster_counts, defined, percentile_interval, resampled_totals
from spotthebot.analytics.stats.randomness import Seed, generator_of, seed_of
from spotthebot.analytics.stats.wins import (
    HUMAN_LIKENESS,
    count_wins,
    mean_win_rates,
    pairwise_win_rates,
    play_games,
    winner_cells,
)


@dataclass(frozen=True)
class SegmentBot:
    """One bot at one length: its mean win rate (Eq. 1, per annotation) and the shares of its `n` labels.

    What the data do not define is None; bounds are percentiles.
    """

    bot: str
    win_rate: float | None
    win_rate_low: float | None
    win_rate_high: float | None
    human_share: float | None
    human_share_low: float | None
    human_share_high: float | None
    unsure_share: float | None
    n: int


@dataclass(frozen=True)
class SegmentResult:
    """All bots at one number of exchanges; `ties` is the share of ties among `n` annotations between bots."""

    exchanges: int
    ties: float | None
    n: int
    bots: tuple[SegmentBot, ...]
    confidence_level: float
    n_resamples: int
    method: str
    seed: int | None


def segment_results(
    table: AnnotationTable,
    *,
    criterion: str = HUMAN_LIKENESS,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> tuple[SegmentResult, ...]:
    """Analyse each number of exchanges by itself, over conversations between bots, in ascending order.

    >>> table = AnnotationTable(
    ...     names=("A", "B"),
    ...     conversation=np.array([0, 0]),
    ...     entity=np.array([[0, 1], [0, 1]]),
    ...     exchanges=np.array([2, 3]),
    ...     label=np.array([[2, 0], [0, 0]]),
    ...     annotator=np.array([0, 0]),
    ... )
    >>> [(each.exchanges, each.ties, each.bots[0].win_rate) for each in segment_results(table)]
    [(2, 0.0, 1.0), (3, 1.0, None)]
    """
    between = table.between_bots()
    generator = generator_of(seed)
    return tuple(
        _one_length(between.select(between.exchanges == exchanges), criterion, confidence_level, n_resamples, generator)
        for exchanges in np.unique(between.exchanges).tolist()
    )


def _one_length(
    table: AnnotationTable, criterion: str, confidence_level: float, n_resamples: int, generator: np.random.Generator
) -> SegmentResult:
    games = play_games(table, criterion=criterion)
    counts = count_wins(games)
    k = len(games.bots)
    by_conversation = cluster_counts(games.conversation, winner_cells(games), k * k + 1)
    drawn = resampled_totals(by_conversation, n_resamples, generator)[:, : k * k].reshape(n_resamples, k, k)
    rate_low, rate_high = percentile_interval(mean_win_rates(pairwise_win_rates(drawn)), confidence_level)
    rates = counts.mean_win_rates
    labels, shares = _label_shares(table, n_resamples, generator)
    n = labels.sum(axis=1)
    share_low, share_high = percentile_interval(shares, confidence_level)
    code = [table.names.index(bot) for bot in table.bots]
    return SegmentResult(
        exchanges=int(table.exchanges[0]),
        ties=defined(counts.tie_rate),
        n=counts.n,
        bots=tuple(
            SegmentBot(
                bot=bot,
                win_rate=defined(rates[i]),
                win_rate_low=defined(rate_low[i]) if not np.isnan(rates[i]) else None,
                win_rate_high=defined(rate_high[i]) if not np.isnan(rates[i]) else None,
                human_share=float(labels[e, LabelCode.HUMAN] / n[e]) if n[e] else None,
                human_share_low=defined(share_low[e]) if n[e] else None,
                human_share_high=defined(share_high[e]) if n[e] else None,
                unsure_share=float(labels[e, LabelCode.UNSURE] / n[e]) if n[e] else None,
                n=int(n[e]),
            )
            for i, (bot, e) in enumerate(zip(table.bots, code, strict=True))
        ),
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        method="per annotation; percentile bootstrap of conversations",
        seed=seed_of(generator),
    )


def _label_shares(
    table: AnnotationTable, n_resamples: int, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Count labels (entities, labels), and the share of "human" in each replicate (n_resamples, entities)."""
    e, n_labels = len(table.names), len(LabelCode)
    cell = (table.entity * n_labels + table.label).ravel()
    by_conversation = cluster_counts(np.repeat(table.conversation, 2), cell, e * n_labels)
    drawn = resampled_totals(by_conversation, n_resamples, generator).reshape(n_resamples, e, n_labels)
    given = drawn.sum(axis=2)
    shares = np.divide(drawn[:, :, LabelCode.HUMAN], given, out=np.full(given.shape, np.nan), where=given > 0)
    return by_conversation.sum(axis=0).reshape(e, n_labels), shares
