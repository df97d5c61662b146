import math

import numpy as np
import pytest

from spotthebot.analytics.stats.outcome_correlation import outcome_correlation
from spotthebot.analytics.stats.wins import Unit, play_games
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import renamed, simulated_table, table_of

LABELS = {1: (2, 0), 0: (1, 1), -1: (0, 2)}


def _games(outcomes, clusters, *, by):
    """One game a row; `clusters` are its conversation or its annotator, the other is its own."""
    rows = [
        (each if by == "conversation" else at, "A", "B", 2, LABELS[outcome], each if by == "annotator" else at)
        for at, (outcome, each) in enumerate(zip(outcomes, clusters, strict=True))
    ]
    return play_games(table_of(rows, ("A", "B")))


class TestOutcomeCorrelation:
    @pytest.mark.parametrize("by", [Clusters.CONVERSATION, Clusters.ANNOTATOR])
    def test_is_the_analysis_of_variance_written_out(self, by):
        # Three clusters of two games: outcomes (1, 1), (0, -1), (1, 0); 3 of 4 decided games are won.
        gains = np.array([0.25, 0.25, 0, -0.75, 0.25, 0])
        means = gains.reshape(3, 2).mean(axis=1)
        between = 2 * np.sum(means**2) / 2
        within = np.sum((gains - np.repeat(means, 2)) ** 2) / 3
        games = _games([1, 1, 0, -1, 1, 0], [0, 0, 1, 1, 2, 2], by=by)
        assert outcome_correlation(games, by) == pytest.approx((between - within) / (between + within))

    def test_weighs_clusters_of_unequal_size_by_their_typical_size(self):
        # Clusters of 3, 2 and 1 games: n0 = (6 - 14 / 6) / 2.
        gains = np.array([1, 1, 1, -1, -1, -1]) / 2
        groups = [gains[:3], gains[3:5], gains[5:]]
        between = sum(len(each) * each.mean() ** 2 for each in groups) / 2
        typical = (6 - 14 / 6) / 2
        games = _games([1, 1, 1, -1, -1, -1], [0, 0, 0, 1, 1, 2], by="conversation")
        assert outcome_correlation(games) == pytest.approx(min(between / (between + (typical - 1) * 0), 1 - 1e-9))
        mixed = _games([1, 1, -1, -1, 1, -1], [0, 0, 0, 1, 1, 2], by="conversation")
        gains = np.array([1, 1, -1, -1, 1, -1]) / 2
        groups = [gains[:3], gains[3:5], gains[5:]]
        between = sum(len(each) * each.mean() ** 2 for each in groups) / 2
        within = sum(np.sum((each - each.mean()) ** 2) for each in groups) / 3
        expected = (between - within) / (between + (typical - 1) * within)
        assert outcome_correlation(mixed) == pytest.approx(max(0, expected))

    def test_finds_the_correlation_that_was_simulated(self):
        rng = np.random.default_rng(3)
        rows = []
        for conversation in range(1500):
            own = int(rng.integers(-1, 2))
            for annotator in range(4):
                outcome = own if rng.random() < math.sqrt(0.3) else int(rng.integers(-1, 2))
                rows.append((conversation, "A", "B", 2, LABELS[outcome], annotator))
        assert outcome_correlation(play_games(table_of(rows, ("A", "B")))) == pytest.approx(0.3, abs=0.04)

    def test_is_the_same_whoever_is_listed_first(self):
        table = simulated_table(4, per_pair=10)
        for by in (Clusters.CONVERSATION, Clusters.ANNOTATOR):
            games = play_games(renamed(table, 1))
            assert outcome_correlation(games, by) == pytest.approx(outcome_correlation(play_games(table), by))

    def test_is_the_same_whichever_side_a_bot_took(self):
        outcomes = [1, 1, 0, -1, 1, 0]
        rows = [
            (0, "A", "B", 2, LABELS[1], 0),
            (0, "A", "B", 2, LABELS[1], 1),
            (1, "B", "A", 2, LABELS[0], 2),
            (1, "B", "A", 2, LABELS[1], 3),
            (2, "A", "B", 2, LABELS[1], 4),
            (2, "A", "B", 2, LABELS[0], 5),
        ]
        expected = outcome_correlation(_games(outcomes, [0, 0, 1, 1, 2, 2], by="conversation"))
        assert outcome_correlation(play_games(table_of(rows, ("A", "B")))) == pytest.approx(expected)

    def test_correlation_of_joined_games_counts_each_annotator(self):
        # Segments of annotators {1, 2}, {1, 3}, {2, 3}, won, won, lost: every annotator has two games.
        rows = [
            (game, "A", "B", 2, LABELS[outcome], who)
            for game, (outcome, crew) in enumerate(((1, (1, 2)), (1, (1, 3)), (-1, (2, 3))))
            for who in crew
        ]
        games = play_games(table_of(rows, ("A", "B")), unit=Unit.SEGMENT)
        gains = np.array([[1, 1], [1, -2], [1, -2]]) / 3
        between = 2 * np.sum(gains.mean(axis=1) ** 2) / 2
        within = np.sum((gains - gains.mean(axis=1, keepdims=True)) ** 2) / 3
        expected = (between - within) / (between + within)
        assert outcome_correlation(games, Clusters.ANNOTATOR) == pytest.approx(max(0.0, expected))

    def test_correlation_of_one_game_a_conversation_is_none(self):
        assert outcome_correlation(_games([1, 1, -1, 1], range(4), by="conversation")) == 0

    @pytest.mark.parametrize("clusters", [Clusters.BOTH, Clusters.NONE])
    def test_refuses_clusters_of_two_kinds_or_none(self, clusters):
        with pytest.raises(SettingOutOfRange, match="conversation or annotator"):
            outcome_correlation(_games([1, -1], [0, 1], by="conversation"), clusters)
