"""Ranks, strengths and log-rank tests pool what annotators share: each against the definition written out."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from spotthebot.analytics.stats.annotations import AnnotationTable
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.significance import pair_tests
from spotthebot.analytics.stats.strength_ranks import StrengthVariance
from spotthebot.analytics.stats.survival.curves import CurrentStatus, current_status
from spotthebot.analytics.stats.survival.log_rank import LogRankTest, LogRankVariance, log_rank_tests
from spotthebot.analytics.stats.win_rate_variance import WinRateVariance
from spotthebot.analytics.stats.wins import Games, games_between, play_games
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters
from tests.analytics.stats.annotation_tables import simulated_table
from tests.factories.clustered_campaigns import Setting, draw_labels
from tests.factories.known import known

K = 4
PAIRS = list(combinations(range(K), 2))
Work = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Bot, conversation and annotator of all that was seen of bots."""


def _campaign(seed: int = 3, annotators: int = 6) -> AnnotationTable:
    setting = Setting(K, 12, annotators, 0.18, taste=True)
    rng = np.random.default_rng(seed)
    return draw_labels(setting, np.tile([0.35, 0.45, 0.55], (K, 1)), np.tile([0.45, 0.38, 0.30], (K, 1)), rng)


def _work(games: Games, *, decided: bool) -> Work:
    mine = np.flatnonzero(games.outcome != 0) if decided else np.arange(len(games))
    twice = np.concatenate([mine, mine])
    return np.concatenate([games.first[mine], games.second[mine]]), games.conversation[twice], games.annotator[twice]


def _ranks(table: AnnotationTable) -> tuple[ClusteredVariance, Work]:
    games = play_games(table)
    return WinRateVariance(games).differences(*np.array(PAIRS).T).variance, _work(games, decided=True)


def _strengths(table: AnnotationTable) -> tuple[ClusteredVariance, Work]:
    games = play_games(table)
    _, variance = StrengthVariance(games, Clusters.BOTH).differences(*np.array(PAIRS).T)
    return variance, _work(games, decided=False)


def _survival(table: AnnotationTable) -> tuple[ClusteredVariance, Work]:
    status = current_status(table)
    tests = log_rank_tests(status)
    variance = np.array([known(test.uncertainty.standard_error) ** 2 for test in tests])
    degrees = np.array([known(test.uncertainty.degrees_of_freedom) for test in tests])
    nobody = np.zeros(len(tests), dtype=np.int64)
    found = ClusteredVariance(variance, degrees, nobody, nobody, Clusters.BOTH)
    return found, (status.entity, status.conversation, status.annotator)


def _others(cluster: np.ndarray) -> float:
    """With how many others one of a bot's rows shares its cluster, on average over rows."""
    return float(np.mean(np.unique(cluster, return_counts=True)[1][np.unique(cluster, return_inverse=True)[1]])) - 1


def _worth(cluster: np.ndarray) -> float:
    sizes = np.unique(cluster, return_counts=True)[1]
    return float(sizes.sum() ** 2 / np.sum(sizes**2))


class TestFamilies:
    @pytest.mark.parametrize("of", [_ranks, _strengths])
    def test_have_the_mean_of_own_and_expected_effects_written_out(
        self, of: Callable[[AnnotationTable], tuple[ClusteredVariance, Work]]
    ):
        found, (bot, conversation, annotator) = of(_campaign())
        effects = known(found.pooled)
        n = np.bincount(bot)
        others = [(_others(conversation[bot == each]) + _others(annotator[bot == each])) / n[each] for each in range(K)]
        excess = np.array([(others[i] + others[j]) / (1 / n[i] + 1 / n[j]) for i, j in PAIRS])
        annotators = [_worth(annotator[bot == each]) - 1 for each in range(K)]
        weight = np.array([min(annotators[i], annotators[j]) for i, j in PAIRS])
        rho = np.sum(weight * (effects.own - 1)) / np.sum(weight * excess)
        assert rho > 0
        np.testing.assert_allclose(effects.expected, 1 + rho * excess)
        of_family = weight * (K - 1)
        mean = (effects.own_degrees * effects.own + of_family * effects.expected) / (effects.own_degrees + of_family)
        np.testing.assert_allclose(effects.design_effect, np.maximum(1, np.maximum(effects.own, mean)))
        conversations = [_worth(conversation[bot == each]) - 1 for each in range(K)]
        items = np.array([conversations[i] + conversations[j] for i, j in PAIRS])
        np.testing.assert_allclose(found.degrees, 1 / (1 / of_family + 1 / items))

    @pytest.mark.parametrize("of", [_ranks, _strengths, _survival])
    def test_have_many_more_degrees_of_freedom_than_six_annotators(
        self, of: Callable[[AnnotationTable], tuple[ClusteredVariance, Work]]
    ):
        found, _ = of(_campaign())
        assert np.all((found.degrees > 10) & (found.degrees < 5 * (K - 1)))

    def test_two_bots_have_nothing_to_pool(self):
        two = games_between(play_games(_campaign()), np.array([0, 1]))
        pair = np.array([0]), np.array([1])
        means = WinRateVariance(two).differences(*pair).variance
        _, strengths = StrengthVariance(two, Clusters.BOTH).differences(*pair)
        assert means.pooled is None
        assert strengths.pooled is None
        assert means.degrees[0] <= 5
        assert strengths.degrees[0] <= 5

    def test_differences_of_a_bot_that_won_every_game_are_not_pooled(self):
        games = play_games(_campaign())
        outcome = np.where(games.first == 0, 1, np.where(games.second == 0, -1, games.outcome))
        won = Games(**{**games.__dict__, "outcome": outcome})
        _, found = StrengthVariance(won, Clusters.BOTH).differences(*np.array(PAIRS).T)
        assert np.isnan(known(found.pooled).design_effect).tolist() == [0 in pair for pair in PAIRS]

    def test_are_named_as_pooled_by_what_they_give(self):
        table = _campaign()
        games = play_games(table)
        methods = [rank_bots(games, n_resamples=1).rank_method, pair_tests(games)[0].method]
        methods.append(log_rank_tests(current_status(table))[0].method)
        two = games_between(games, np.array([0, 1]))
        alone = [rank_bots(two, n_resamples=1).rank_method, pair_tests(two)[0].method]
        alone.append(log_rank_tests(_between(current_status(table), (0, 1)))[0].method)
        assert all("design effects pooled" in each for each in methods)
        assert not any("pooled" in each for each in alone)


class TestLogRank:
    def test_variances_are_those_of_independent_inspections_times_the_pooled_effect(self):
        status = current_status(_campaign())
        independent = log_rank_tests(status, variance=LogRankVariance.SCORE)
        compared = 0
        for pair, test, plain in zip(PAIRS, log_rank_tests(status), independent, strict=True):
            pooled, error = known(test.uncertainty.pooled), known(plain.uncertainty.standard_error)
            assert test.uncertainty.standard_error == pytest.approx(np.sqrt(pooled.design_effect) * error)
            assert test.statistic == pytest.approx(test.estimate**2 / known(test.uncertainty.standard_error) ** 2)
            assert pooled.family == len(PAIRS)
            two = _between(status, pair)
            alone, single = (
                log_rank_tests(two, clusters=clusters)[0].uncertainty for clusters in (Clusters.BOTH, Clusters.NONE)
            )
            own = (known(alone.standard_error) / known(single.standard_error)) ** 2
            assert pooled.own_degrees_of_freedom == pytest.approx(alone.degrees_of_freedom)
            if own > 1 and known(single.standard_error) > error:  # nothing was floored
                compared += 1
                assert pooled.own == pytest.approx(own)
        assert compared >= 3

    def test_expected_effects_follow_from_shared_conversations_and_annotators(self):
        status = current_status(_campaign())
        n = np.bincount(status.entity)
        others = [
            sum(_others(cluster[status.entity == each]) for cluster in (status.conversation, status.annotator))
            for each in range(K)
        ]
        rho = set()
        for (i, j), test in zip(PAIRS, log_rank_tests(status), strict=True):
            excess = (others[i] / n[i] + others[j] / n[j]) / (1 / n[i] + 1 / n[j])
            rho.add(round((known(test.uncertainty.pooled).expected - 1) / excess, 9))
        assert len(rho) == 1
        assert rho.pop() > 0

    @pytest.mark.parametrize("spotted", [None, False, True])
    def test_bots_whose_tests_cannot_be_made_change_no_other(self, spotted: bool | None):
        """Two more bots were never inspected, or spotted never or always: the test of the two is none."""
        status = current_status(_campaign())
        n = 60 if spotted is not None else 0
        more = CurrentStatus(
            names=(*status.names, "E", "F"),
            times=status.times,
            entity=np.concatenate([status.entity, np.repeat([K, K + 1], n)]),
            time=np.concatenate([status.time, status.time[: 2 * n]]),
            spotted=np.concatenate([status.spotted, np.full(2 * n, bool(spotted))]),
            conversation=np.concatenate([status.conversation, 10_000 + np.arange(2 * n) // 6]),
            annotator=np.concatenate([status.annotator, 100 + np.arange(2 * n) % 6]),
            leads={},
        )
        tests = {(test.bot, test.other): test for test in log_rank_tests(more)}
        assert tests["E", "F"].p_value is None
        assert tests["E", "F"].uncertainty.pooled is None
        for test in log_rank_tests(status):
            assert tests[test.bot, test.other].uncertainty == test.uncertainty

    def test_bots_and_people_are_pooled_apart(self):
        status = current_status(simulated_table(2, names=("A", "B", "HU", "C"), per_pair=20, annotators=12))
        without = [test for test in log_rank_tests(status) if "HU" not in {test.bot, test.other}]
        alone = log_rank_tests(_between(status, (0, 1, 3)))
        for one, other in zip(without, alone, strict=True):
            assert one.uncertainty == other.uncertainty
            assert known(one.uncertainty.pooled).family == 3

    def test_where_one_bot_always_is_spotted_and_the_other_never_the_effect_is_the_expected_one(self):
        perfect, nearly = _with_record(0), _with_record(1)
        pooled = known(perfect.uncertainty.pooled)
        assert (pooled.own, pooled.own_degrees_of_freedom) == (None, None)
        assert pooled.design_effect == max(1, pooled.expected)
        assert perfect.statistic == pytest.approx(perfect.estimate**2 / known(perfect.uncertainty.standard_error) ** 2)
        # One inspection that ended otherwise has an effect of its own, which tells next to nothing.
        assert known(nearly.uncertainty.pooled).design_effect == pytest.approx(pooled.design_effect, rel=0.02)

    def test_a_bot_with_annotators_of_its_own_is_not_pooled(self):
        status = current_status(_campaign())
        annotator = np.where(status.entity == 3, status.annotator + 6, status.annotator)
        tests = log_rank_tests(CurrentStatus(**{**status.__dict__, "annotator": annotator}))
        pooled = {(test.bot, test.other) for test in tests if test.uncertainty.pooled is not None}
        assert pooled == {("bot 0", "bot 1"), ("bot 0", "bot 2"), ("bot 1", "bot 2")}


def _between(status: CurrentStatus, codes: tuple[int, ...]) -> CurrentStatus:
    """Return the inspections of some bots as if there were no others."""
    mine = np.isin(status.entity, codes)
    return CurrentStatus(
        names=tuple(status.names[code] for code in codes),
        times=status.times,
        entity=np.searchsorted(codes, status.entity[mine]),
        time=status.time[mine],
        spotted=status.spotted[mine],
        conversation=status.conversation[mine],
        annotator=status.annotator[mine],
        leads={name: lead[mine] for name, lead in status.leads.items()},
    )


def _with_record(missed: int) -> LogRankTest:
    """Let the first bot be spotted in all inspections but `missed`, the second in none; return their test."""
    status = current_status(_campaign())
    spotted = np.where(status.entity < 2, status.entity == 0, status.spotted)
    spotted[np.flatnonzero(status.entity == 0)[10 : 10 + 40 * missed : 40]] = False
    return log_rank_tests(CurrentStatus(**{**status.__dict__, "spotted": spotted}))[0]
