"""Which bots can be told apart: intervals of win rates, confidence sets of ranks, and clusters of these."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import defined, require_confidence_level, require_level, require_resamples
from spotthebot.analytics.stats.distributions import student_tails
from spotthebot.analytics.stats.pooled_differences import words_of_differences
from spotthebot.analytics.stats.rank_ranges import clusters_of_ranges, rank_probabilities
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds, share_tests
from spotthebot.analytics.stats.significance import Adjustment, adjust
from spotthebot.analytics.stats.strength_ranks import NO_STRENGTHS, StrengthVariance, connected_bots
from spotthebot.analytics.stats.uncertainty import Clusters, Uncertainty
from spotthebot.analytics.stats.win_rate_variance import WinRateVariance
from spotthebot.analytics.stats.wins import Games, PairCounts, count_wins, games_between, mean_win_rates
from spotthebot.statistics.randomness import Seed, generator_of, seed_of


class RankedBy(StrEnum):
    """What bots are compared by."""

    WIN_RATES = "win_rates"
    STRENGTHS = "strengths"


@dataclass(frozen=True)
class BotRank:
    """One bot's mean win rate over its opponents with bounds, its set of ranks (1 is best) and its cluster.

    `rank_probabilities` are those of rank 1, 2, ... over draws from the estimates' distribution. `n` counts its decided
    games; without any the rest is None. A bot that takes no part in the ranking has a `reason`. `tie_rate` is the
    share of all its games that were ties, `win_rate_with_ties` its mean share of wins among all games.
    """

    bot: str
    estimate: float | None
    low: float | None
    high: float | None
    uncertainty: Uncertainty
    n: int
    tie_rate: float | None
    win_rate_with_ties: float | None
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
    uncertainty: Uncertainty
    n: int
    reason: str | None


@dataclass(frozen=True)
class Ranking:
    """The bots, best first (those without decided games last), and every unordered pair.

    `ranked_by` says what decides: strengths where two bots of the ranking never met, and so have mean win rates over
    different opponents. `reason` says why nobody has a rank.
    """

    bots: tuple[BotRank, ...]
    pairs: tuple[PairInterval, ...]
    confidence_level: float
    significance_level: float
    clusters: Clusters
    adjustment: Adjustment
    n: int
    n_comparisons: int
    n_resamples: int
    method: str
    ranked_by: RankedBy
    rank_method: str
    seed: int | None
    reason: str | None


def rank_bots(
    games: Games,
    *,
    confidence_level: float = 0.95,
    significance_level: float = 0.05,
    clusters: Clusters = Clusters.BOTH,
    adjustment: Adjustment = Adjustment.HOLM,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> Ranking:
    """Rank bots by mean win rate, with bounds for rates and simultaneous confidence sets for ranks.

    Rates have Wilson's interval for the effective number of games. A rank is told by tests: a bot stands behind all
    that are significantly better and before all that are significantly worse, where the comparisons of all bots are one
    family (Mogstad, Romano, Shaikh & Wilhelm 2024, with Holm's step-down procedure for theirs). So with probability
    1 - `significance_level` all sets hold at once, and no claim that one bot is better is false. Bots that share ranks,
    also through others, make a cluster. Where not all bots met, the most bots that chains of games connect are ranked,
    by their Bradley-Terry strengths unless these did all meet; a bot with a single vote costs nobody else a rank.
    The `n_resamples` draws serve the probabilities of ranks alone. `n` counts the
    games. Raises `SettingOutOfRange`. `benchmarks/analytics/coverage` has the coverage of rates and of ranks.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> rows = [(at, "A", "B", 2, "human", "bot", at % 8) for at in range(16)]
    >>> ranking = rank_bots(play_games(AnnotationTable.from_rows(rows)))  # 2 of 2⁸ sign flips of the annotators
    >>> [(bot.bot, bot.estimate, bot.rank_low, bot.rank_high) for bot in ranking.bots]
    [('A', 1.0, 1, 1), ('B', 0.0, 2, 2)]
    """
    require_confidence_level(confidence_level)
    require_resamples(n_resamples)
    require_level("significance_level", significance_level)
    counts, rates = count_wins(games), WinRateVariance(games, clusters)
    k = len(games.bots)
    low, high = share_bounds(*rates.means, confidence_level)
    pair_low, pair_high = share_bounds(*rates.pairs, confidence_level)
    estimates = rates.means.share
    basis = _basis(games, counts, rates, clusters)
    ranked = basis.ranked
    better = _significantly_better(basis, significance_level, adjustment)
    rank_low, rank_high = 1 + better.sum(axis=0), len(ranked) - better.sum(axis=1)
    probabilities = rank_probabilities(basis.draws(n_resamples, generator_of(seed)))
    cluster = clusters_of_ranges(rank_low, rank_high)
    place = {int(code): at for at, code in enumerate(ranked)}
    decided = counts.wins.sum(axis=0) + counts.wins.sum(axis=1)
    ties = counts.ties.sum(axis=1)
    with_ties = mean_win_rates(counts.win_rates_with_ties)
    bots = [
        BotRank(
            bot=games.bots[i],
            estimate=defined(estimates[i]),
            low=defined(low[i]),
            high=defined(high[i]),
            uncertainty=rates.means.variance.uncertainty(i),
            n=int(decided[i]),
            tie_rate=float(ties[i] / (ties[i] + decided[i])) if ties[i] + decided[i] else None,
            win_rate_with_ties=defined(with_ties[i]),
            rank_low=int(rank_low[place[i]]) if i in place else None,
            rank_high=int(rank_high[place[i]]) if i in place else None,
            cluster=int(cluster[place[i]]) if i in place else None,
            rank_probabilities=tuple(probabilities[place[i]].tolist()) if i in place else (),
            reason=basis.reasons.get(i, basis.reason),
        )
        for i in range(k)
    ]
    pairs = tuple(
        PairInterval(
            bot=pair.bot,
            other=pair.other,
            estimate=pair.estimate,
            low=defined(pair_low[at]),
            high=defined(pair_high[at]),
            uncertainty=rates.pairs.variance.uncertainty(at),
            n=pair.wins + pair.losses,
            reason=None if pair.wins + pair.losses else "no game of the two was decided",
        )
        for at, pair in enumerate(counts.pairs())
    )
    return Ranking(
        bots=tuple(sorted(bots, key=lambda b: (*basis.order.get(b.bot, (True, 0.0)), -(b.estimate or 0.0), b.bot))),
        pairs=pairs,
        confidence_level=confidence_level,
        significance_level=significance_level,
        clusters=clusters,
        adjustment=adjustment,
        n=len(games),
        n_comparisons=len(ranked) * (len(ranked) - 1) // 2,
        n_resamples=n_resamples,
        method=f"{METHOD}, {clusters.words}",
        ranked_by=basis.by,
        rank_method=f"sets of ranks that hold together: t tests of all differences of {_WORDS[basis.by]},"
        f" {words_of_differences(clusters, len(ranked))}, one family ({_FAMILY[adjustment]})",
        seed=seed_of(seed),
        reason=basis.reason,
    )


_FAMILY = {
    Adjustment.HOLM: "Holm",
    Adjustment.BONFERRONI: "Bonferroni",
    Adjustment.NONE: "not corrected: the sets do not hold together",
}


_WORDS = {
    RankedBy.WIN_RATES: "mean win rates",
    RankedBy.STRENGTHS: "Bradley-Terry strengths with ties, since not all of these bots met",
}
_UNDECIDED: Final = "no game of the bot was decided"


@dataclass(frozen=True, eq=False)
class _Basis:
    """The codes of the bots that are ranked (r,), what orders them (r,), and the tests and draws behind their ranks.

    `tests` takes places among the ranked and returns who is ahead, and p-values. `reasons` has those of bots that are
    not ranked.
    """

    by: RankedBy
    bots: tuple[str, ...]
    ranked: IntArray
    value: FloatArray
    tests: Callable[[IntArray, IntArray], tuple[BoolArray, FloatArray]]
    draws: Callable[[int, np.random.Generator], FloatArray]
    reasons: Mapping[int, str]
    reason: str | None = None

    @property
    def order(self) -> dict[str, tuple[bool, float]]:
        """What sorts the ranked bots."""
        return {self.bots[code]: (False, -self.value[at]) for at, code in enumerate(self.ranked.tolist())}


def _basis(games: Games, counts: PairCounts, rates: WinRateVariance, clusters: Clusters) -> _Basis:
    """Compare by mean win rates if all met, or else those whom chains of games connect."""
    known = np.flatnonzero(~np.isnan(rates.means.share))
    undecided = dict.fromkeys(np.flatnonzero(np.isnan(rates.means.share)).tolist(), _UNDECIDED)
    if _met(counts, known).all():
        return _by_win_rates(games, known, rates, known, undecided)
    connected = connected_bots(games, clusters)
    codes, reasons = connected.codes, undecided | dict(connected.reasons)
    among = games_between(games, codes)
    of_connected = count_wins(among)
    decided = np.flatnonzero(of_connected.wins.sum(axis=0) + of_connected.wins.sum(axis=1))
    if len(codes) and _met(of_connected, decided).all():
        return _by_win_rates(games, codes[decided], WinRateVariance(among, clusters), decided, reasons)
    variance = StrengthVariance(among, clusters) if of_connected.wins.any() else None
    if variance is None or not variance.is_known:
        nobody = np.empty(0, dtype=np.int64)
        reason = f"{_never_met(games, counts, known)}, and {NO_STRENGTHS}"
        return replace(_by_win_rates(games, nobody, rates, nobody, reasons), reason=reason)

    def tests(first: IntArray, second: IntArray) -> tuple[BoolArray, FloatArray]:
        lead, found = variance.differences(first, second)
        return lead > 0, 2 * student_tails(np.abs(lead) / np.sqrt(found.variance), found.degrees)

    reasons = {code: reason for code, reason in reasons.items() if code not in set(codes.tolist())}
    return _Basis(RankedBy.STRENGTHS, games.bots, codes, variance.strengths, tests, variance.draws, reasons)


def _by_win_rates(
    games: Games, ranked: IntArray, rates: WinRateVariance, place: IntArray, reasons: Mapping[int, str]
) -> _Basis:
    """Compare by mean win rates; `place` says at which places of the rates the bots stand."""

    def tests(first: IntArray, second: IntArray) -> tuple[BoolArray, FloatArray]:
        differences = rates.differences(place[first], place[second])
        _, p_values = share_tests(*differences)
        return differences.share > 0.5, p_values

    def draws(n_draws: int, generator: np.random.Generator) -> FloatArray:
        return rates.draws(n_draws, generator)[:, place] if len(place) else np.empty((n_draws, 0))

    return _Basis(RankedBy.WIN_RATES, games.bots, ranked, rates.means.share[place], tests, draws, reasons)


def _significantly_better(basis: _Basis, significance_level: float, adjustment: Adjustment) -> BoolArray:
    """Return (r, r): whether the bot of the row is significantly better than that of the column."""
    r = len(basis.ranked)
    better = np.zeros((r, r), dtype=np.bool_)
    first, second = np.triu_indices(r, 1)
    ahead, p_values = basis.tests(first, second)
    significant = adjust(p_values, adjustment) < significance_level
    better[first[significant & ahead], second[significant & ahead]] = True
    better[second[significant & ~ahead], first[significant & ~ahead]] = True
    return better


def _never_met(games: Games, counts: PairCounts, known: IntArray) -> str:
    """Name two bots whose mean win rates are over different opponents."""
    i, j = np.argwhere(~_met(counts, known))[0]
    return f"{games.bots[known[i]]} and {games.bots[known[j]]} never met"


def _met(counts: PairCounts, codes: IntArray) -> BoolArray:
    """Return whether two bots met (r, r); each met itself."""
    met: BoolArray = (counts.wins + counts.wins.T + counts.ties)[np.ix_(codes, codes)] > 0
    return met | np.eye(len(codes), dtype=np.bool_)
