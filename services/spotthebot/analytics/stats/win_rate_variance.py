"""The clustered variance of win rates: of each pair's rate, of each bot's mean rate, and of differences of means."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.pooled_design_effects import pooled_variance
from spotthebot.analytics.stats.pooled_differences import variance_of_differences
from spotthebot.analytics.stats.wins import Games, PairCounts, Unit, count_wins
from spotthebot.statistics.clustered_variance import Influence, clustered_parts
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters

LEAST_ANNOTATORS: Final[Mapping[Unit, int]] = MappingProxyType({Unit.SEGMENT: 20, Unit.CONVERSATION: 30})
"""With fewer annotators, nearly all games that join annotations share one, and their variance can't be seen.

In simulation with strong tastes, 10 bots and 45 conversations a pair, intervals of 95 % for games of conversations
covered 88 % with 20 annotators, 90 with 26, 91 with 30 and 93 with 40; for games of segments 92 % with 20.
"""


class Shares(NamedTuple):
    """Shares (m,), with their numbers of observations and their variance."""

    share: FloatArray
    n: FloatArray | IntArray
    variance: ClusteredVariance


class WinRateVariance:
    """The win rates of some games with their variance.

    `pairs` has the win rate (Eq. 1) of the first bot of every unordered pair, in the order of `triu_indices`. `means`
    has each bot's mean win rate over the opponents with which it has decided games. If all decided games of a pair are
    of one cluster, they tell nothing about the variance of its win rate. In a mean it then has the largest variance of
    a share, 1/4.
    """

    def __init__(self, games: Games, clusters: Clusters = Clusters.BOTH) -> None:
        counts = count_wins(games)
        k = len(games.bots)
        first, second = np.triu_indices(k, 1)
        rates, of_rates = influence_of_pairs(games, counts)
        pair, rows, value = of_rates.statistic, of_rates.observation, of_rates.value
        decided = np.bincount(pair, minlength=len(first))
        known = decided > 0
        low, high = first[pair], second[pair]
        ones = of_rates.weight
        of_pairs = pooled_variance(
            rates,
            games.observations,
            of_rates,
            clusters,
            contrasts=len(np.unique(np.concatenate([low, high]))) - 1,
        )
        opponents = np.bincount(first[known], minlength=k) + np.bincount(second[known], minlength=k)
        share = np.divide(1.0, opponents, out=np.zeros(k), where=opponents > 0)
        self._observations = games.observations
        self._of_means = Influence(
            n_statistics=k,
            statistic=np.concatenate([low, high]),
            observation=np.concatenate([rows, rows]),
            ratio=np.concatenate([pair, pair]),
            value=np.concatenate([value * share[low], -value * share[high]]),
            weight=np.concatenate([ones, ones]),
        )
        self._parts = clustered_parts(games.observations, self._of_means, clusters)
        self._unknown = _unknown_variance(known & np.isnan(of_pairs.variance), first, second, share)
        means = self._parts.variances()
        inverse = np.divide(1.0, decided, out=np.zeros(len(decided)), where=known)
        spread = np.bincount(first, weights=inverse, minlength=k) + np.bincount(second, weights=inverse, minlength=k)
        worth = np.divide(opponents**2, spread, out=np.zeros(k), where=spread > 0)
        self._joined = games.members is not None and clusters.has_annotators
        self._unit = games.unit
        self.pairs = Shares(rates, decided, self._unless_few_annotators(of_pairs))
        means = self._unless_few_annotators(replace(means, variance=means.variance + self._unknown))
        self.means = Shares(counts.mean_win_rates, worth, means)

    def differences(self, first: IntArray, second: IntArray) -> Shares:
        """Return the mean win rate of `first` (d,) minus that of `second` (d,), as shares (1 + difference) / 2.

        So a share is 1/2 plus half of the difference. If there are only two bots, it is the pair's win rate. The
        variances are pooled if there are three bots or more.
        """
        own = self._parts.differences(first, second)
        found = variance_of_differences(self._observations, self._of_means, self._parts, own, first, second)
        unknown = (np.sqrt(self._unknown[first]) + np.sqrt(self._unknown[second])) ** 2
        variance = replace(found, variance=(found.variance + unknown) / 4)
        variance = self._unless_few_annotators(variance)
        share, n = self.means.share, self.means.n
        both = n[first] + n[second]
        worth = np.divide(4 * n[first] * n[second], both, out=np.zeros(len(both)), where=both > 0)
        return Shares((1 + share[first] - share[second]) / 2, worth, variance)

    def _unless_few_annotators(self, found: ClusteredVariance) -> ClusteredVariance:
        if not self._joined:
            return found
        few = found.n_annotators < LEAST_ANNOTATORS[self._unit]
        return replace(
            found, variance=np.where(few, np.nan, found.variance), degrees=np.where(few, np.nan, found.degrees)
        )

    def draws(self, n_draws: int, generator: np.random.Generator) -> FloatArray:
        """Draw mean win rates (n_draws, k) from the normal distribution of the estimates and their covariance."""
        covariance = self._parts.covariance() + np.diag(self._unknown)
        values, vectors = np.linalg.eigh(np.nan_to_num(covariance))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        noise = generator.standard_normal((n_draws, len(covariance))) @ root.T
        return np.where(np.isnan(self.means.variance.variance), np.nan, self.means.share + noise)


def influence_of_pairs(games: Games, counts: PairCounts) -> tuple[FloatArray, Influence]:
    """Return the win rate (m,) of the first bot of each unordered pair, and the influence of each decided game on it.

    Pairs are in the order of `triu_indices`. `counts` has the wins of these games.
    """
    k = len(games.bots)
    first, second = np.triu_indices(k, 1)
    decided = (counts.wins + counts.wins.T)[first, second]
    rates = counts.win_rates[first, second]
    code = np.zeros((k, k), dtype=np.int64)
    code[first, second] = np.arange(len(first))
    rows = np.flatnonzero(games.outcome != 0)
    low, high = np.minimum(games.first, games.second)[rows], np.maximum(games.first, games.second)[rows]
    won = np.where(games.first[rows] == low, games.outcome[rows], -games.outcome[rows]) > 0
    pair = code[low, high]
    value = (won - rates[pair]) / decided[pair]
    return rates, Influence(len(first), pair, rows, pair, value, np.ones(len(rows)))


def _unknown_variance(lonely: BoolArray, first: IntArray, second: IntArray, share: FloatArray) -> FloatArray:
    of_pairs = np.bincount(first[lonely], minlength=len(share)) + np.bincount(second[lonely], minlength=len(share))
    variance: FloatArray = of_pairs * share**2 / 4
    return variance
