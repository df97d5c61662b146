"""The variance of bots' ratings. Every game of the campaign changes all ratings a little.

A game's score involves only few parameters. Its influence on all ratings is this score times the effects of these
parameters on the ratings. The influence of a cluster is the sum of the scores of its games times the same effects. All
games of a cluster are enlarged equally, and only on the ratings of the bots that play in them. So no array of games
times ratings is in memory, unless clusters are sets of several annotators.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.wins import Games
from spotthebot.statistics.annotator_sets import SharedMembers, shared_cells
from spotthebot.statistics.cluster_shares import WHOLE
from spotthebot.statistics.clustered_variance import ClusteredParts
from spotthebot.statistics.uncertainty import Clusters

_NUMBERS_AT_ONCE: Final = 1_000_000


@dataclass(frozen=True, eq=False)
class RatingInfluence:
    """The influence (games, bots) of games on ratings: the product of `scores` (games, parameters) and `moves`.

    `moves` has the effects of parameters on ratings, (parameters, bots).
    """

    scores: "scipy.sparse.csr_array"
    moves: FloatArray


def rating_parts(games: Games, influence: RatingInfluence, clusters: Clusters) -> ClusteredParts:
    """Return the parts of the variance of the ratings of all bots.

    A cluster's leverage on a rating is its share of the bot's games. A bot without games has no variance.
    """
    n, k = len(games), len(games.bots)
    playing = _matrix(np.tile(np.arange(n), 2), np.concatenate([games.first, games.second]), (n, k))
    members = games.members
    ratings = _Ratings(influence, playing, np.asarray(playing.sum(axis=0), dtype=np.float64).ravel())
    conversations, conversation = np.unique(games.conversation, return_inverse=True)
    clustered = []
    if clusters.has_conversations:
        clustered.append(_RatingPart(ratings, conversation))
    if clusters.has_annotators:
        shared = None if members is None else SharedMembers(members)
        clustered.append(_RatingPart(ratings, games.annotator, members, shared))
    both = None
    if len(clustered) == 2:
        cell, alike = shared_cells(conversation, games.annotator, members)
        both = _RatingPart(ratings, cell, None, alike)
    return ClusteredParts(
        single=_RatingPart(ratings, np.arange(n)),
        clustered=clustered,
        both=both,
        n_conversations=np.where(ratings.played, len(conversations), 0),
        n_annotators=np.where(ratings.played, _n_clusters(games.annotator, members), 0),
        clusters=clusters,
    )


@dataclass(frozen=True, eq=False)
class _Ratings:
    """The influence with the bots of each game (games, bots), and the number of games of each bot (bots,)."""

    influence: RatingInfluence
    playing: "scipy.sparse.csr_array"
    totals: FloatArray

    @property
    def played(self) -> BoolArray:
        return self.totals > 0


class _RatingPart:
    """The clusters of one kind: the sums of their scores, and their leverages, by which the sums are enlarged."""

    def __init__(
        self,
        ratings: _Ratings,
        cluster: IntArray,
        members: "scipy.sparse.csr_array | None" = None,
        shared: "SharedMembers | scipy.sparse.csr_array | None" = None,
    ) -> None:
        rows = int(cluster.max(initial=0)) + 1 if members is None else members.shape[0]
        into = _matrix(cluster, np.arange(len(cluster)), (rows, len(cluster)))
        self._scores = into @ ratings.influence.scores
        self._moves = ratings.influence.moves
        weights = into @ ratings.playing
        if members is not None:
            weights = members.T @ weights
        leverage = weights * (1 / np.maximum(ratings.totals, 1))
        if members is not None:
            # The leverage of a set is the mean of its annotators' leverages.
            leverage = (members * (1 / np.diff(members.indptr))[:, None]) @ leverage
        self._leverage = scipy.sparse.csr_array(leverage)
        n = _n_clusters(cluster, members)
        self._known = ratings.played & (n > 1)
        self._factor = np.sqrt((n - 1) / n) if n else 1.0
        self._shared = shared
        self._gram: FloatArray | None = None
        sums, squares = (np.asarray(each.sum(axis=0), dtype=np.float64).ravel() for each in (weights, weights.power(2)))
        effective = np.divide(sums**2, squares, out=np.zeros(len(squares)), where=squares > 0)
        self.degrees: FloatArray = np.where(self._known, np.maximum(effective - 1, 0.5), np.nan)

    def variances(self) -> FloatArray:
        """Return the variance of each rating; NaN if it has fewer than two clusters."""
        if self._gram is not None or self._shared is not None:
            return np.maximum(np.diag(self.covariance()), 0.0)
        squares = np.sum(self._moves * (self._squared_scores() @ self._moves), axis=0)
        for _, own, more in self._enlarged():
            squares += np.bincount(more.indices, more.data * (2 * own + more.data), minlength=len(squares))
        return np.where(self._known, np.maximum(squares * self._factor**2, 0.0), np.nan)

    def covariance(self) -> FloatArray:
        """Return the covariance (bots, bots) of the ratings."""
        if self._gram is None:
            self._gram = self._products()
            self._gram[~self._known] = np.nan
            self._gram[:, ~self._known] = np.nan
        return self._gram

    def _products(self) -> FloatArray:
        if self._shared is None:
            return self._sums_of_products()
        k = self._moves.shape[1]
        gram = np.zeros((k, k))
        sums = [self._scores[block] @ self._moves + more.toarray() for block, _, more in self._enlarged()]
        whole = np.vstack([np.zeros((0, k)), *sums]) * self._factor
        step = max(1, _NUMBERS_AT_ONCE // max(len(whole), 1))
        for start in range(0, k, step):
            bots = slice(start, start + step)
            gram[:, bots] = whole.T @ (self._shared @ whole[:, bots])
        return gram

    def _sums_of_products(self) -> FloatArray:
        """Return the products (bots, bots) of the clusters' enlarged influence, summed over clusters."""
        gram = self._moves.T @ self._squared_scores() @ self._moves
        for block, _, more in self._enlarged():
            dense = more.toarray()
            crossed = self._moves.T @ (self._scores[block].T @ dense)
            gram += crossed + crossed.T + more.T @ dense
        return np.asarray(gram * self._factor**2)

    def _squared_scores(self) -> FloatArray:
        return np.asarray((self._scores.T @ self._scores).toarray())

    def _enlarged(self) -> "Iterator[tuple[slice, FloatArray, scipy.sparse.csr_array]]":
        """Yield blocks of clusters: their influence on the bots that play in them, and by how much it is enlarged.

        The influence on other bots is not enlarged. So `more` (clusters, bots) has few entries; the influence has the
        order of these entries.
        """
        rows, step = self._scores.shape[0], max(1, _NUMBERS_AT_ONCE // max(self._moves.shape[1], 1))
        for start in range(0, rows, step):
            block = slice(start, start + step)
            sums, more = self._scores[block] @ self._moves, self._leverage[block].copy()
            own = sums[np.repeat(np.arange(len(sums)), np.diff(more.indptr)), more.indices]
            more.data = own * np.where(more.data < WHOLE, more.data / np.maximum(1 - more.data, 1 - WHOLE), -1.0)
            yield block, own, more


def _matrix(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> "scipy.sparse.csr_array":
    return scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def _n_clusters(cluster: IntArray, members: "scipy.sparse.csr_array | None") -> int:
    codes = np.flatnonzero(np.bincount(cluster))
    return len(codes if members is None else np.unique(members[codes].indices))
