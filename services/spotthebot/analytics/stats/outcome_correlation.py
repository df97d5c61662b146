"""How alike outcomes of one pair are within a conversation and within an annotator."""

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.uncertainty import Clusters
from spotthebot.analytics.stats.wins import Games


def outcome_correlation(games: Games, clusters: Clusters = Clusters.CONVERSATION) -> float:
    """Estimate the intraclass correlation of a pair's outcomes within its conversations or within its annotators.

    An outcome is what a game adds to the pair's win rate p: 1 - p if it was won, -p if it was lost, 0 for a tie. So the
    correlation says by how much clusters inflate the variance of p. By analysis of variance of clusters nested in pairs
    (Donner 1986), between 0 and just below 1; 0 where no cluster has two games. A game that joins several annotations
    counts for each of its annotators. Raises `SettingOutOfRange`.

    >>> from spotthebot.analytics.stats import Unit
    >>> alike = Games(
    ...     bots=("A", "B"), first=np.zeros(4, int), second=np.ones(4, int), outcome=np.array([1, 1, -1, -1]),
    ...     conversation=np.array([0, 0, 1, 1]), annotator=np.arange(4), unit=Unit.ANNOTATION, criterion="human",
    ... )
    >>> round(outcome_correlation(alike), 6)  # no variance within
    1.0
    """
    if clusters not in {Clusters.CONVERSATION, Clusters.ANNOTATOR}:
        raise SettingOutOfRange(setting="clusters", allowed="conversation or annotator", value=clusters)
    pair, gain = _gains(games)
    cluster = games.conversation
    if clusters is Clusters.ANNOTATOR:
        game, cluster = annotators_of_games(games)
        pair, gain = pair[game], gain[game]
    _, cell = np.unique(np.column_stack([pair, cluster]), axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    sizes = np.bincount(cell)
    n, groups, pairs = len(gain), len(sizes), len(np.unique(pair))
    if n <= groups or groups <= pairs:
        return 0.0
    means = np.bincount(cell, weights=gain) / sizes
    between = float(np.sum(sizes * means**2)) / (groups - pairs)
    within = float(np.sum((gain - means[cell]) ** 2)) / (n - groups)
    of_pair = np.zeros(groups, dtype=np.int64)
    of_pair[cell] = pair
    games_of_pair = np.bincount(pair)
    squares = np.bincount(of_pair, weights=sizes**2, minlength=len(games_of_pair))
    met = games_of_pair > 0
    typical = (n - float(np.sum(squares[met] / games_of_pair[met]))) / (groups - pairs)
    total = between + (typical - 1) * within
    return float(np.clip((between - within) / total, 0.0, 1 - 1e-9)) if total > 0 else 0.0


def annotators_of_games(games: Games) -> tuple[IntArray, IntArray]:
    """List every annotator of every game: the game's number and the annotator's code."""
    if games.members is None:
        return np.arange(len(games)), games.annotator
    members = games.members[games.annotator].tocoo()
    game, annotator = members.coords
    return game.astype(np.int64), annotator.astype(np.int64)


def _gains(games: Games) -> tuple[IntArray, FloatArray]:
    pair = np.minimum(games.first, games.second) * len(games.bots) + np.maximum(games.first, games.second)
    _, pair = np.unique(pair, return_inverse=True)
    won = np.where(games.first < games.second, games.outcome, -games.outcome) > 0
    decided = games.outcome != 0
    wins, of = np.bincount(pair, weights=won), np.bincount(pair, weights=decided)
    rate = np.divide(wins, of, out=np.zeros(len(of)), where=of > 0)
    return pair, np.where(decided, won - rate[pair], 0.0)
