"""Which bots can be told apart: bootstrap intervals of win rates, ranges of ranks and clusters of ranges."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.bootstrap import (
    Resample,
    defined,
    percentile_interval,
    require_confidence_level,
    resampled_cells,
    resampled_counts,
)
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.randomness import Seed, generator_of, seed_of
from spotthebot.analytics.stats.rank_ranges import clusters_of_ranges, rank_probabilities, rank_ranges
from spotthebot.analytics.stats.win_rate_intervals import wilson_bounds
from spotthebot.analytics.stats.wins import (
    Games,
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
    the rest is None, `reason` says so, and the bot takes no part in the ranking.
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
    reason: str | None


@dataclass(frozen=True)
class PairInterval:
    """Eq. 1 for one pair with bounds; `n` counts its decided games, and without any all three are None for a reason."""

    bot: str
    other: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None


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

    By default (`resample` None) rates have Wilson intervals whose variance is of conversations and annotators where a
    game is an annotation (`TWO_WAY`), of conversations where it joins several; what annotators share is then not in
    it, and the intervals are too narrow. Ranks are those of conversation replicates, which hold their level in either
    case. Any other kind asked for gives percentiles of its own replicates, for rates and ranks alike. Bots that tie
    in a replicate share all the ranks they could take, and a bot that a replicate left without decided games could
    take any, so no order of the input decides. `n` counts the games. Annotators can only be resampled where a game is
    an annotation; otherwise, and for settings out of range, `SettingOutOfRange` is raised.
    `benchmarks/analytics/coverage.py` has the actual coverage of each kind.

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
    if kind in {Resample.ANNOTATOR, Resample.TWO_WAY} and games.unit is not Unit.ANNOTATION:
        raise SettingOutOfRange(setting="resample", allowed=f"conversation or game for {games.unit}s", value=resample)
    counts = count_wins(games)
    k = len(games.bots)
    generator = generator_of(seed)
    ranks_by = Resample.CONVERSATION if kind is Resample.TWO_WAY else kind
    pair_rates, n_clusters = _resampled_rates(games, n_resamples, generator, ranks_by)
    bot_rates = mean_win_rates(pair_rates)
    method = _PERCENTILES[ranks_by]
    if kind is resample and kind is not Resample.TWO_WAY:
        low, high = percentile_interval(bot_rates, confidence_level)
        pair_low, pair_high = percentile_interval(pair_rates, confidence_level)
    else:
        by_annotator = None
        if kind is Resample.TWO_WAY:
            by_annotator, n_annotators = _resampled_rates(games, n_resamples, generator, Resample.ANNOTATOR)
            n_clusters = min(n_annotators, n_clusters)
        low, high, pair_low, pair_high = wilson_bounds(
            counts, pair_rates, by_annotator, confidence_level=confidence_level, degrees=n_clusters - 1
        )
        method = f"rates: {_WILSON[kind]}; ranks: {method}"
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
            reason=None if i in place else "no game of the bot was decided",
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
            reason=None if pair.wins + pair.losses else "no game of the two was decided",
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
        method=method,
        resample=kind,
        seed=seed_of(seed),
    )


_WILSON = {
    Resample.TWO_WAY: "Wilson intervals with the variance of conversations and annotators (Cameron-Gelbach-Miller)",
    Resample.CONVERSATION: "Wilson intervals with the variance of conversations",
}
_PERCENTILES = {
    Resample.CONVERSATION: "percentiles of a bootstrap of conversations",
    Resample.ANNOTATOR: "percentiles of a bootstrap of annotators",
    Resample.GAME: "percentiles of a bootstrap of single games",
}


def _resampled_rates(games: Games, n_resamples: int, seed: Seed, resample: Resample) -> tuple[FloatArray, int]:
    """Return pairs' win rates (n_resamples, k, k) and the number of what was drawn."""
    k = len(games.bots)
    cell = winner_cells(games)
    if resample is Resample.GAME:
        drawn, n_clusters = resampled_counts(np.bincount(cell, minlength=k * k + 1), n_resamples, seed), len(games)
    else:
        cluster = games.annotator if resample is Resample.ANNOTATOR else games.conversation
        drawn, n_clusters = resampled_cells(cluster, cell, k * k + 1, n_resamples, seed)
    return pairwise_win_rates(drawn[:, : k * k].reshape(n_resamples, k, k)), n_clusters
