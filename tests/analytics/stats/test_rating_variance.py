"""The variance of ratings without an array of games times bots, against the sum over every game and every bot."""

import numpy as np
import pytest
from scipy import sparse

from spotthebot.analytics.stats.annotations import AnnotationTable
from spotthebot.analytics.stats.rating_variance import RatingInfluence, rating_parts
from spotthebot.analytics.stats.wins import Games, Unit, play_games
from spotthebot.statistics.clustered_variance import ClusteredParts, Influence, clustered_parts
from spotthebot.statistics.uncertainty import Clusters


def played(seed: int, unit: Unit, *, annotators: int = 5) -> Games:
    """Play games of 60 annotations of 14 conversations between four bots; a fifth bot plays none."""
    rng = np.random.default_rng(seed)
    bots = np.array([rng.permutation(4)[:2] for _ in range(14)])
    conversation = rng.integers(14, size=60)
    table = AnnotationTable(
        names=("A", "B", "C", "D", "E"),
        conversation=3 * conversation,
        entity=bots[conversation],
        exchanges=rng.integers(2, 4, size=60),
        label=rng.integers(3, size=(60, 2)),
        annotator=2 * rng.integers(annotators, size=60),
    )
    return play_games(table, unit=unit)


def influence_of(games: Games, seed: int) -> RatingInfluence:
    """Draw scores of two or three of six parameters, which move the ratings of all bots that played."""
    rng = np.random.default_rng(seed)
    scores = sparse.csr_array(rng.normal(size=(len(games), 6)) * rng.integers(2, size=(len(games), 6)))
    return RatingInfluence(scores, rng.normal(size=(6, 5)))


def by_every_game_and_bot(games: Games, influence: RatingInfluence, clusters: Clusters) -> ClusteredParts:
    """List the influence of each game on each bot that played, also where it took no part in the game."""
    n, k = len(games), len(games.bots)
    games_of = np.zeros((n, k))
    games_of[np.arange(n), games.first] = games_of[np.arange(n), games.second] = 1.0
    bots = np.flatnonzero(games_of.any(axis=0))
    bot, game = np.repeat(bots, n), np.tile(np.arange(n), len(bots))
    value = (influence.scores.toarray() @ influence.moves)[game, bot]
    return clustered_parts(games.observations, Influence(k, bot, game, bot, value, games_of[game, bot]), clusters)


@pytest.mark.parametrize("clusters", Clusters)
@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("seed", range(3))
class TestRatingParts:
    def test_are_those_of_every_game_and_bot(self, seed: int, unit: Unit, clusters: Clusters):
        games = played(seed, unit)
        influence = influence_of(games, seed)
        found, expected = (parts(games, influence, clusters) for parts in (rating_parts, by_every_game_and_bot))
        first, second = np.triu_indices(5, 1)
        for one, other in (
            (found.variances(), expected.variances()),
            (found.differences(first, second), expected.differences(first, second)),
        ):
            np.testing.assert_allclose(one.variance, other.variance, rtol=1e-10)
            np.testing.assert_allclose(one.degrees, other.degrees, rtol=1e-10)
            assert one.n_conversations.tolist() == other.n_conversations.tolist()
            assert one.n_annotators.tolist() == other.n_annotators.tolist()
        np.testing.assert_allclose(found.covariance(), expected.covariance(), rtol=1e-10, atol=1e-12)
        assert np.isnan(found.variances().variance).tolist() == [False] * 4 + [True]
