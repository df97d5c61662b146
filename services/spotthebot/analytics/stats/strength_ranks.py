"""Ranks bots that did not all meet: finds the bots that games connect, and the differences of their strengths.

The mean win rates of these bots are over different opponents, so they cannot be compared. Strengths of Davidson's model
can: a chain of games compares two bots that never met.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.davidson_model import fit_davidson, influence_of_games, is_separated
from spotthebot.analytics.stats.pooled_differences import SeenBots
from spotthebot.analytics.stats.rating_variance import rating_parts
from spotthebot.analytics.stats.win_rate_variance import LEAST_ANNOTATORS
from spotthebot.analytics.stats.wins import Games, count_wins
from spotthebot.statistics.clustered_variance import Counted
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters

_NAMED: Final = 3
NO_STRENGTHS: Final = "no two bots won against each other, over others too: nothing says how sure a strength is"


@dataclass(frozen=True)
class ConnectedBots:
    """The codes of the bots that can be compared, ascending. `reasons` says why the other bots can't be compared."""

    codes: IntArray
    reasons: Mapping[int, str]


def connected_bots(games: Games, clusters: Clusters) -> ConnectedBots:
    """Return the largest group of bots that chains of games connect, without bots that have a single vote.

    If all games of a bot are of one conversation or of one annotator, the uncertainty of its strength is unknown. This
    would widen the rank ranges of all other bots. If two groups have the same number of bots, the group with more games
    is returned.
    """
    counts = count_wins(games)
    met = counts.wins + counts.wins.T + counts.ties
    played = np.flatnonzero(met.sum(axis=1))
    alone = bots_of_one_cluster(games, clusters)
    rest = played[~alone[played]]
    reasons = {
        int(code): "its games are of one conversation or one annotator, which tells nothing of others"
        for code in played[alone[played]]
    }
    if not len(rest):
        return ConnectedBots(rest, reasons)
    kept = largest_group(met[np.ix_(rest, rest)])
    apart = rest[~kept].tolist()
    names = ", ".join(games.bots[code] for code in apart[:_NAMED])
    more = f" and {len(apart) - _NAMED} more" if len(apart) > _NAMED else ""
    reasons |= dict.fromkeys(apart, f"no chain of games leads from {names}{more} to the bots that are ranked")
    return ConnectedBots(rest[kept], reasons)


class StrengthVariance:
    """The strengths of connected bots, and the variance of their differences.

    Half a win is added to each side of every pair that met. This gives a finite strength to a bot that only won or only
    lost, whose games do not show how much they vary together. So a difference of such a bot has at least the variance
    for independent games times the design effect of the other bots. No difference has less variance than for
    independent games. The differences of other bots are pooled (`pooled_differences`).
    """

    def __init__(self, games: Games, clusters: Clusters) -> None:
        counts = count_wins(games)
        wins = counts.wins.astype(np.float64)
        ties = np.triu(counts.ties, 1).astype(np.float64)
        self._unbounded = np.zeros(len(wins), dtype=np.bool_)
        separated = is_separated(wins, ties)
        if separated:
            self._unbounded = ~_strongest_core(wins, ties)
            wins = wins + 0.5 * ((wins + wins.T + ties + ties.T) > 0)
        fit = fit_davidson(wins, ties)
        self.strengths = fit.strengths
        self._model = fit.model_covariance
        self._parts = rating_parts(games, influence_of_games(games, np.arange(len(wins)), fit), clusters)
        self._clusters = clusters
        self._observations = games.observations
        playing, games_of = np.concatenate([games.first, games.second]), np.tile(np.arange(len(games)), 2)
        self._counted = Counted(len(wins), playing, games_of)
        self._least = LEAST_ANNOTATORS.get(games.unit, 0) if games.members is not None else 0
        bounded = ~self._unbounded
        variance = np.where(bounded, self._parts.variances().variance, np.nan)
        known = ~np.isnan(variance)
        self.is_known = bool(known.sum() > 1)
        model = np.diag(self._model)
        self._design_effect = max(1.0, float(variance[known].sum() / model[known].sum())) if known.any() else 1.0

    def differences(self, first: IntArray, second: IntArray) -> tuple[FloatArray, ClusteredVariance]:
        """Return the strengths of `first` (d,) minus those of `second` (d,), with the variance of the differences."""
        found = self._parts.differences(first, second)
        single, effect = self._parts.effects_of_differences(first, second)
        model = self._model[first, first] + self._model[second, second] - 2 * self._model[first, second]
        unbounded = self._unbounded[first] | self._unbounded[second]
        own = replace(
            found,
            variance=np.maximum(found.variance, model * np.where(unbounded, self._design_effect, 1.0)),
            degrees=np.minimum(found.degrees, np.maximum(found.n_clusters - 1, 1)),
        )
        known = ~unbounded & ~np.isnan(effect)
        of_model = np.divide(single * effect, model, out=np.full(len(model), np.nan), where=known)
        seen = SeenBots(self._observations, self._counted, first, second)
        variance = seen.pool(own, known, model, of_model)
        if self._clusters.has_annotators and self._least:
            few = variance.n_annotators < self._least
            variance = replace(variance, variance=np.where(few, np.nan, variance.variance))
        return self.strengths[first] - self.strengths[second], variance

    def draws(self, n_draws: int, generator: np.random.Generator) -> FloatArray:
        """Draw strengths (n_draws, k) from the normal distribution of their estimates."""
        covariance = np.nan_to_num(self._parts.covariance())
        least = np.diag(self._model) * np.where(self._unbounded, self._design_effect, 1.0)
        covariance += np.diag(np.maximum(least - np.diag(covariance), 0.0))
        values, vectors = np.linalg.eigh(covariance)
        noise = generator.standard_normal((n_draws, len(covariance))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        drawn: FloatArray = self.strengths + noise
        return drawn


def largest_group(met: IntArray | FloatArray) -> BoolArray:
    """Return a mask (k,): the largest group of bots that chains of games connect.

    `met` (k, k) counts games of each pair.
    """
    _, group = scipy.sparse.csgraph.connected_components(met, directed=False)
    return _largest(group.astype(np.int64), met)


def _strongest_core(wins: FloatArray, ties: FloatArray) -> BoolArray:
    """Return a mask (k,): the largest group in which chains of wins and ties lead from each bot to each other bot.

    The strengths of these bots are finite.
    """
    led = wins + ties + ties.T
    _, group = scipy.sparse.csgraph.connected_components(led, directed=True, connection="strong")
    return _largest(group.astype(np.int64), led + led.T)


def _largest(group: IntArray, met: IntArray | FloatArray) -> BoolArray:
    size, played = np.bincount(group), np.bincount(group, weights=met.sum(axis=1))
    largest: BoolArray = group == max(range(len(size)), key=lambda at: (size[at], played[at], -at))
    return largest


def bots_of_one_cluster(games: Games, clusters: Clusters) -> BoolArray:
    """Return for each bot (k,) whether all its games are of one conversation, or all are of one annotator."""
    k, n = len(games.bots), len(games)
    bot, game = np.concatenate([games.first, games.second]), np.tile(np.arange(n), 2)
    alone = np.zeros(k, dtype=np.bool_)
    if clusters is Clusters.NONE:
        alone |= np.bincount(bot, minlength=k) < 2
    if clusters.has_conversations:
        seen = np.unique(np.column_stack([bot, games.conversation[game]]), axis=0)
        alone |= np.bincount(seen[:, 0], minlength=k) < 2
    if clusters.has_annotators:
        annotator = games.annotator[game]
        if games.members is None:
            seen = np.unique(np.column_stack([bot, annotator]), axis=0)[:, 0]
            alone |= np.bincount(seen, minlength=k) < 2
        else:
            sets = scipy.sparse.csr_array((np.ones(2 * n), (bot, annotator)), shape=(k, games.members.shape[0]))
            alone |= np.asarray(((sets @ games.members) > 0).sum(axis=1)).ravel() < 2
    return alone
