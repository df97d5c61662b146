"""Pooled design effects of pairs: what they stand on, and that a clearer record never has the larger p-value."""

import math

import numpy as np
import pytest
from scipy import stats

from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.significance import pair_tests
from spotthebot.analytics.stats.wins import Games, Unit, games_between, play_games
from spotthebot.statistics.uncertainty import Clusters
from tests.factories.clustered_campaigns import Setting, draw_labels
from tests.factories.known import known

_BOT, _HUMAN = np.array([0.35, 0.45, 0.55]), np.array([0.45, 0.38, 0.30])


def _campaign(k: int, per_pair: int = 10, annotators: int = 12, seed: int = 0) -> Games:
    setting = Setting(k, per_pair, annotators, 0.18, taste=True)
    return play_games(
        draw_labels(setting, np.tile(_BOT, (k, 1)), np.tile(_HUMAN, (k, 1)), np.random.default_rng([7, seed]))
    )


def _with_record(games: Games, lost: int) -> Games:
    """Let the first bot win all decided games against the second but `lost` of them."""
    outcome = games.outcome.copy()
    mine = np.flatnonzero(
        (outcome != 0) & (np.minimum(games.first, games.second) == 0) & (games.first + games.second == 1)
    )
    outcome[mine] = np.where(games.first[mine] == 0, 1, -1)
    outcome[mine[:: max(1, len(mine) // max(lost, 1))][:lost]] *= -1
    return Games(
        games.bots, games.first, games.second, outcome, games.conversation, games.annotator, games.unit, games.criterion
    )


class TestPairs:
    @pytest.mark.parametrize("clusters", [each for each in Clusters if each is not Clusters.NONE])
    def test_have_the_mean_of_expected_and_own_but_never_less_than_the_own_or_1(self, clusters: Clusters):
        for test in pair_tests(_campaign(5), clusters=clusters):
            uncertainty = known(test.uncertainty)
            pooled, family = known(uncertainty.pooled), known(uncertainty.degrees_of_freedom)
            own, degrees = known(pooled.own), known(pooled.own_degrees_of_freedom)
            mean = (family * pooled.expected + degrees * own) / (family + degrees)
            assert pooled.design_effect == pytest.approx(max(1, own, mean))
            assert pooled.family == 10
            share = known(test.estimate)
            error = math.sqrt(pooled.design_effect * share * (1 - share) / test.n)
            assert uncertainty.standard_error == pytest.approx(error)

    def test_share_one_correlation_which_their_clusters_turn_into_what_is_expected(self):
        games = _campaign(4)
        rho = set()
        for at, test in enumerate(pair_tests(games)):
            first, second = (each[at] for each in np.triu_indices(4, 1))
            mine = (games.first + games.second == first + second) & (np.minimum(games.first, games.second) == first)
            mine &= games.outcome != 0
            others = sum(
                float(np.sum(np.bincount(cluster[mine]) ** 2)) / mine.sum() - 1
                for cluster in (games.conversation, games.annotator)
            )
            rho.add(round((known(known(test.uncertainty).pooled).expected - 1) / others, 9))
        assert len(rho) == 1

    def test_have_own_effects_that_no_floor_raises(self):
        """Floored ones would make the family's correlation too large."""
        own = [known(known(test.uncertainty).pooled).own for test in pair_tests(_campaign(6))]
        assert min(each for each in own if each is not None) < 1

    def test_have_intervals_that_hold_even_odds_exactly_where_p_is_not_below_the_level(self):
        for seed in range(20):
            games = _campaign(4, per_pair=4, annotators=6, seed=seed)
            intervals = rank_bots(games, n_resamples=1).pairs
            for test, interval in zip(pair_tests(games), intervals, strict=True):
                if test.p_value is not None:
                    assert (known(interval.low) <= 0.5 <= known(interval.high)) == (test.p_value >= 0.05)

    @pytest.mark.parametrize("per_pair", [4, 10])
    def test_have_no_larger_p_the_clearer_their_record_is(self, per_pair: int):
        games = _campaign(4, per_pair=per_pair)
        p_values = [known(pair_tests(_with_record(games, lost))[0].p_value) for lost in range(4)]
        assert p_values == sorted(p_values)

    def test_have_the_expected_effect_alone_where_one_bot_won_every_game(self):
        test = pair_tests(_with_record(_campaign(4), 0))[0]
        uncertainty = known(test.uncertainty)
        pooled = known(uncertainty.pooled)
        assert (test.estimate, pooled.own, pooled.own_degrees_of_freedom) == (1, None, None)
        assert pooled.design_effect == max(1, pooled.expected)
        statistic = math.sqrt(test.n / pooled.design_effect)
        assert test.p_value == pytest.approx(2 * stats.t.sf(statistic, known(uncertainty.degrees_of_freedom)))

    def test_are_alone_where_two_bots_are_or_annotations_are_taken_for_independent(self):
        games = _campaign(4)
        (two,) = pair_tests(games_between(games, np.array([0, 1])))
        assert known(two.uncertainty).pooled is None
        assert all(known(test.uncertainty).pooled is None for test in pair_tests(games, clusters=Clusters.NONE))

    def test_are_pooled_where_games_join_annotations(self):
        table = draw_labels(
            Setting(4, 30, 30, 0.18, taste=True),
            np.tile(_BOT, (4, 1)),
            np.tile(_HUMAN, (4, 1)),
            np.random.default_rng(3),
        )
        for test in pair_tests(play_games(table, unit=Unit.SEGMENT)):
            assert known(known(test.uncertainty).pooled).expected >= 1
