"""Which bots can be told apart: bootstrap intervals of win rates, ranges of ranks and clusters of ranges."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.bootstrap import (
    Resample,
    cluster_counts,
    defined,
    percentile_interval,
    require_confidence_level,
    resampled_counts,
    resampled_totals,
)
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.randomness import Seed, generator_of, seed_of
from spotthebot.analytics.stats.rank_ranges import clusters_of_ranges, rank_probabilities, rank_ranges
from spotthebot.analytics.stats.share_intervals import effective_wilson_interval, two_way_variance
from spotthebot.analytics.stats.wins import (
    Games,
    PairCounts,
    Unit,
    count_wins,
    mean_win_rates,
    pairwise_win_rates,
    winner_cells,
)


@dataclass(frozen=True)
class BotRank:
    """One bot's mean win rate over its opponents with bounds, its range of ranks (1 is best) and its cluster.

    `rank_probabilities` are those of rank 1, 2, ... over the replicates. `n` counts its decided games; without any
    the rest is None, and the bot takes no part in the ranking.
    """

    bot: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int
    rank_low: int | None
    rank_high: int | None
    cluster: int | None
    rank_probabilities: tuple[float, ...]


@dataclass(frozen=True)
class PairInterval:
    """Eq. 1 for one pair with bounds; `n` counts its decided games, and all three numbers are None without any."""

    bot: str
    other: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Ranking:
    """The bots, best first (those without decided games last), and every unordered pair."""

    bots: tuple[BotRank, ...]
    pairs: tuple[PairInterval, ...]
    confidence_level: float
    n: int
    n_clusters: int
    n_resamples: int
    method: str
    resample: Resample
    seed: int | None


def rank_bots(
    games: Games,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: Seed = 0,
    resample: Resample | None = None,
) -> Ranking:
    """Rank bots by mean win rate, with bounds for rates and ranks.

    By default (`resample` None) conversations and annotators both count as clusters where a game is an annotation,
    and conversations alone where a game joins several. `TWO_WAY` gives Wilson intervals with the summed variance;
    ranks are those of the conversation replicates, which hold their level already. The other kinds give percentiles of
    their own replicates for rates and ranks alike. Bots that tie in a replicate share all the ranks they could take,
    and a bot that a replicate left without decided games could take any, so no order of the input decides. `n` counts
    the games. Annotators can only be resampled where a game is an annotation; otherwise, and for settings out of
    range, `SettingOutOfRange` is raised.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> table = AnnotationTable.from_rows(
    ...     [
    ...         (0, "A", "B", 2, "human", "bot", 0),
    ...         (1, "A", "B", 2, "human", "unsure", 1),
    ...         (2, "A", "B", 2, "bot", "bot", 0),
    ...     ]
    ... )
    >>> [(bot.bot, bot.estimate, bot.rank_low, bot.rank_high) for bot in rank_bots(play_games(table)).bots]
    [('A', 1.0, 1, 2), ('B', 0.0, 1, 2)]
    """
    require_confidence_level(confidence_level)
    kind = resample or (Resample.TWO_WAY if games.unit is Unit.ANNOTATION else Resample.CONVERSATION)
    counts = count_wins(games)
    k = len(games.bots)
    generator = generator_of(seed)
    ranks_by = Resample.CONVERSATION if kind is Resample.TWO_WAY else kind
    drawn, n_clusters = _resampled_wins(games, n_resamples, generator, ranks_by)
    pair_rates = pairwise_win_rates(drawn)
    bot_rates = mean_win_rates(pair_rates)
    if kind is Resample.TWO_WAY:
        (low, high), (pair_low, pair_high), n_clusters = _two_way(
            games, counts, pair_rates, (n_resamples, confidence_level), generator
        )
    else:
        low, high = percentile_interval(bot_rates, confidence_level)
        pair_low, pair_high = percentile_interval(pair_rates, confidence_level)
    estimates = counts.mean_win_rates
    ranked = np.flatnonzero(~np.isnan(estimates))
    rank_low, rank_high = rank_ranges(bot_rates[:, ranked], confidence_level)
    probabilities = rank_probabilities(bot_rates[:, ranked])
    cluster = clusters_of_ranges(rank_low, rank_high)
    place = {int(code): at for at, code in enumerate(ranked)}
    decided = counts.wins.sum(axis=0) + counts.wins.sum(axis=1)
    bots = [
        BotRank(
            bot=games.bots[i],
            estimate=defined(estimates[i]),
            low=defined(low[i]),
            high=defined(high[i]),
            n=int(decided[i]),
            rank_low=int(rank_low[place[i]]) if i in place else None,
            rank_high=int(rank_high[place[i]]) if i in place else None,
            cluster=int(cluster[place[i]]) if i in place else None,
            rank_probabilities=tuple(probabilities[place[i]].tolist()) if i in place else (),
        )
        for i in range(k)
    ]
    pairs = tuple(
        PairInterval(
            bot=pair.bot,
            other=pair.other,
            estimate=pair.estimate,
            low=defined(pair_low[i, j]),
            high=defined(pair_high[i, j]),
            n=pair.wins + pair.losses,
        )
        for pair, i, j in zip(counts.pairs(), *np.triu_indices(k, 1), strict=True)
    )
    return Ranking(
        bots=tuple(sorted(bots, key=lambda b: (b.estimate is None, -(b.estimate or 0.0), b.bot))),
        pairs=pairs,
        confidence_level=confidence_level,
        n=len(games),
        n_clusters=n_clusters,
        n_resamples=n_resamples,
        method=_METHODS[kind],
        resample=kind,
        seed=seed_of(seed),
    )


_METHODS = {
    Resample.TWO_WAY: "rates: Wilson intervals with the variance of conversations and annotators"
    " (Cameron-Gelbach-Miller); ranks: percentiles of a bootstrap of conversations",
    Resample.CONVERSATION: "percentiles of a bootstrap of conversations",
    Resample.ANNOTATOR: "percentiles of a bootstrap of annotators",
    Resample.GAME: "percentiles of a bootstrap of single games",
}


def _two_way(
    games: Games, counts: PairCounts, by_conversation: FloatArray, level: tuple[int, float], generator: Seed
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray], int]:
    n_resamples, confidence_level = level
    annotators, n_annotators = _resampled_wins(games, n_resamples, generator, Resample.ANNOTATOR)
    by_annotator = pairwise_win_rates(annotators)
    n_clusters = min(n_annotators, len(np.unique(games.conversation)))
    rates, decided = counts.win_rates, (counts.wins + counts.wins.T).astype(np.float64)
    of_one = np.divide(1.0, decided, out=np.zeros_like(decided), where=decided > 0)
    opponents = (decided > 0).sum(axis=1).astype(np.float64)
    squared = np.maximum(opponents, 1) ** 2
    of_games = np.where(decided > 0, rates * (1 - rates), 0.0) * of_one
    # A mean over opponents varies as much as one share of m² / sum(1 / n) games.
    n_mean = np.divide(squared, of_one.sum(axis=1), out=np.zeros_like(opponents), where=opponents > 0)

    def interval(
        share: FloatArray, conversation: FloatArray, annotator: FloatArray, game: FloatArray, n: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        known = n > 0
        low, high = np.full(share.shape, np.nan), np.full(share.shape, np.nan)
        low[known], high[known] = effective_wilson_interval(
            share[known],
            two_way_variance(conversation[:, known], annotator[:, known], game[known]),
            n[known],
            confidence_level=confidence_level,
            degrees=n_clusters - 1,
        )
        return low, high

    means = (mean_win_rates(by_conversation), mean_win_rates(by_annotator))
    return (
        interval(counts.mean_win_rates, *means, of_games.sum(axis=1) / squared, n_mean),
        interval(rates, by_conversation, by_annotator, of_games, decided),
        n_clusters,
    )


def _resampled_wins(games: Games, n_resamples: int, seed: Seed, resample: Resample) -> tuple[FloatArray, int]:
    k = len(games.bots)
    cell = winner_cells(games)
    if resample is Resample.GAME:
        drawn, n_clusters = resampled_counts(np.bincount(cell, minlength=k * k + 1), n_resamples, seed), len(games)
    else:
        if resample is not Resample.CONVERSATION and games.unit is not Unit.ANNOTATION:
            raise SettingOutOfRange(
                setting="resample", allowed=f"conversation or game for {games.unit}s", value=resample
            )
        cluster = games.annotator if resample is Resample.ANNOTATOR else games.conversation
        by_cluster = cluster_counts(cluster, cell, k * k + 1)
        drawn, n_clusters = resampled_totals(by_cluster, n_resamples, seed), len(by_cluster)
    return drawn[:, : k * k].reshape(n_resamples, k, k), n_clusters
