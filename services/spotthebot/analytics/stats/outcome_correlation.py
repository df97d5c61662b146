"""The correlation of a pair's outcomes within a conversation and within an annotator."""

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.intraclass_correlation import intraclass_correlation
from spotthebot.analytics.stats.wins import Games
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters


def outcome_correlation(games: Games, clusters: Clusters = Clusters.CONVERSATION) -> float:
    """Estimate the intraclass correlation of a pair's outcomes within its conversations or within its annotators.

    An outcome is a game's contribution to the pair's win rate p: 1 - p for a win, -p for a loss, 0 for a tie. So the
    correlation says how much clusters inflate the variance of p. It is estimated by `intraclass_correlation`, whose
    groups are pairs. A game that joins several annotations counts for each of its annotators. Raises
    `SettingOutOfRange`.

    >>> from spotthebot.analytics.stats import Unit
    >>> alike = Games(
    ...     bots=("A", "B"), first=np.zeros(4, int), second=np.ones(4, int), outcome=np.array([1, 1, -1, -1]),
    ...     conversation=np.array([0, 0, 1, 1]), annotator=np.arange(4), unit=Unit.ANNOTATION, criterion="human",
    ... )
    >>> round(outcome_correlation(alike), 6)  # no variance within
    1.0
    """
    clusters = choice_of("clusters", clusters, Clusters)
    if clusters not in {Clusters.CONVERSATION, Clusters.ANNOTATOR}:
        raise SettingOutOfRange(setting="clusters", allowed="conversation or annotator", value=clusters)
    pair, gain = _gains(games)
    cluster = games.conversation
    if clusters is Clusters.ANNOTATOR:
        game, cluster = annotators_of_games(games)
        pair, gain = pair[game], gain[game]
    return intraclass_correlation(gain, cluster, pair)


def annotators_of_games(games: Games) -> tuple[IntArray, IntArray]:
    """Return each annotator of each game, as two columns: the numbers of the games and the codes of the annotators."""
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
