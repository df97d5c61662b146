"""The variance of bots' ratings, each of which every game of the campaign moves a little."""

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.clustered_variance import ClusteredParts, Clusters, Influence
from spotthebot.analytics.stats.wins import Games


def rating_parts(games: Games, influence: FloatArray, clusters: Clusters) -> ClusteredParts:
    """Return the parts of the variance of ratings whose influence by each game is given, (games, bots).

    A cluster's leverage on a rating is its share of the bot's games. A bot without games has no variance.
    """
    n, k = influence.shape
    games_of = np.zeros((n, k))
    games_of[np.arange(n), games.first] = games_of[np.arange(n), games.second] = 1.0
    played = np.flatnonzero(games_of.any(axis=0))
    bot, game = np.repeat(played, n), np.tile(np.arange(n), len(played))
    return ClusteredParts(
        games.observations,
        Influence(
            n_statistics=k,
            statistic=bot,
            observation=game,
            ratio=bot,
            value=influence[game, bot],
            weight=games_of[game, bot],
        ),
        clusters,
    )
