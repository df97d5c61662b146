import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.optimize import minimize

from spotthebot.analytics.stats.davidson import rate_davidson
from spotthebot.analytics.stats.davidson_model import fit_davidson, influence_of_games
from spotthebot.analytics.stats.wins import Games, PairCounts, Unit, count_wins, play_games
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import simulated_table
from tests.factories.known import all_known, known, lowest
from tests.factories.lazy_imports import lazily

sm = lazily("statsmodels.api")


def _counts(wins, ties=None, bots="ABCDEFGH"):
    wins = np.array(wins)
    ties = np.zeros_like(wins) if ties is None else np.array(ties)
    return PairCounts(bots=tuple(bots[: len(wins)]), wins=wins, ties=ties)


def _rated(counts, **more):
    return rate_davidson(_games(counts), **more)


def _games(counts, annotators=7):
    """Write counts out as games, each a conversation of its own, that the annotators label in turn."""
    k = len(counts.bots)
    rows = [(i, j, 1) for i in range(k) for j in range(k) for _ in range(int(counts.wins[i, j]))]
    rows += [(i, j, 0) for i in range(k) for j in range(i + 1, k) for _ in range(int(counts.ties[i, j]))]
    first, second, outcome = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Games(
        bots=counts.bots,
        first=first,
        second=second,
        outcome=outcome,
        conversation=np.arange(len(rows)),
        annotator=np.arange(len(rows)) % annotators,
        unit=Unit.ANNOTATION,
        criterion="human",
    )


THREE = _counts([[0, 12, 15], [5, 0, 9], [3, 4, 0]], [[0, 8, 6], [8, 0, 11], [6, 11, 0]])


def _written_out(counts, log_strengths, nu):
    """Davidson's likelihood, term by term."""
    strength, k = np.exp(log_strengths), len(counts.bots)
    total = 0.0
    for i in range(k):
        for j in range(i + 1, k):
            tie = nu * math.sqrt(strength[i] * strength[j])
            both = strength[i] + strength[j] + tie
            total += counts.wins[i, j] * math.log(strength[i] / both) + counts.wins[j, i] * math.log(strength[j] / both)
            total += counts.ties[i, j] * math.log(tie / both) if counts.ties[i, j] else 0.0
    return total


class TestSeparation:
    """Where the likelihood has no maximum, half a win is added; elsewhere nothing is."""

    def test_is_noticed_where_a_bot_only_tied_beside_one_that_only_won(self):
        """A beat B twice and tied with it once, C only tied: nu grows without end, though ties join all three."""
        fit = _rated(_counts([[0, 2, 0], [0, 0, 0], [0, 0, 0]], [[0, 1, 1], [1, 0, 0], [1, 0, 0]]))
        assert fit.separated
        assert all(bot.estimate is not None and abs(bot.estimate) < 5 for bot in fit.bots)

    def test_is_noticed_where_a_bot_won_and_tied_but_never_lost(self):
        """6 wins, 20 ties, no loss: a gap and a nu that grow together keep the ties likely."""
        fit = _rated(_counts([[0, 6], [0, 0]], [[0, 20], [20, 0]]))
        assert fit.separated
        first, second = fit.bots
        assert (first.low, first.high, first.uncertainty.standard_error) == (None, None, None)
        assert first.reason == second.reason
        assert "no bound" in known(first.reason)
        # Half a win to each side: 6.5 wins, .5 losses and 20 ties, of which the odds are the gap and nu.
        assert known(first.estimate) - known(second.estimate) == pytest.approx(math.log(6.5 / 0.5))
        assert fit.tie == pytest.approx(20 / math.sqrt(6.5 * 0.5))

    def test_is_none_with_a_single_loss(self):
        fit = _rated(_counts([[0, 6], [1, 0]], [[0, 20], [20, 0]]))
        assert not fit.separated
        assert known(fit.bots[0].estimate) - known(fit.bots[1].estimate) == pytest.approx(math.log(6))
        assert fit.bots[0].low is not None

    @given(st.lists(st.integers(0, 2), min_size=9, max_size=9))
    @settings(max_examples=40)
    def test_is_found_where_the_likelihood_written_out_has_no_maximum(self, games):
        wins, ties = np.zeros((3, 3), dtype=int), np.zeros((3, 3), dtype=int)
        for (i, j), (won, lost, tied) in zip(
            [(0, 1), (0, 2), (1, 2)], zip(*[iter(games)] * 3, strict=True), strict=True
        ):
            wins[i, j], wins[j, i], ties[i, j] = won, lost, tied
        counts = _counts(wins.tolist(), (ties + ties.T).tolist())
        fit = _rated(counts)
        if fit.reason is not None or any(bot.estimate is None for bot in fit.bots):
            return
        near, far = _highest(counts, 9.0), _highest(counts, 18.0)
        assert fit.separated == (far > near + 1e-7)


def _highest(counts, bound):
    """Return the highest likelihood with all parameters within a bound: it still grows with the bound, or does not.

    A maximum lies within 9: three bots with at most two games of each outcome have odds of less than e^9.
    """
    has_ties = counts.ties.any()

    def minus(x):
        return -_written_out(counts, np.array([x[0], x[1], 0.0]), math.exp(x[2]) if has_ties else 0.0)

    return -minimize(minus, np.zeros(3), bounds=[(-bound, bound)] * 3, options={"ftol": 1e-15, "gtol": 1e-10}).fun


class TestRateDavidson:
    def test_is_the_maximum_of_the_likelihood_written_out(self):
        fit = _rated(THREE)
        found = lowest(
            lambda x: -_written_out(THREE, np.append(x[:2], -x[:2].sum()), math.exp(x[2])),
            np.zeros(3),
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000},
        )
        assert [bot.estimate for bot in fit.bots] == pytest.approx([*found.x[:2], -found.x[:2].sum()], abs=1e-5)
        assert fit.tie == pytest.approx(math.exp(found.x[2]), rel=1e-5)
        assert fit.log_likelihood == pytest.approx(-found.fun, abs=1e-9)

    def test_standard_errors_are_those_of_the_log_linear_model(self):
        # Each pair's three counts as Poisson, with an intercept per pair: Fienberg & Larntz 1976.
        rows, counts = [], []
        for at, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
            for outcome, n in enumerate([THREE.wins[i, j], THREE.wins[j, i], THREE.ties[i, j]]):
                strength = np.zeros(3)
                strength[i] += {0: 1, 1: 0, 2: 0.5}[outcome]
                strength[j] += {0: 0, 1: 1, 2: 0.5}[outcome]
                # The last strength is less the others' sum, so that all sum to 0.
                free = strength[:2] - strength[2]
                rows.append([*np.eye(3)[at], *free, float(outcome == 2)])
                counts.append(n)
        fitted = sm.GLM(counts, np.array(rows), family=sm.families.Poisson()).fit(tol=1e-12)
        fit = _rated(THREE)
        assert [bot.estimate for bot in fit.bots[:2]] == pytest.approx(fitted.params[3:5], abs=1e-8)
        assert [bot.model_standard_error for bot in fit.bots[:2]] == pytest.approx(fitted.bse[3:5], rel=1e-6)
        assert math.log(known(fit.tie)) == pytest.approx(fitted.params[5], abs=1e-8)

    def test_bounds_are_student_s(self):
        bot = _rated(THREE, confidence_level=0.9).bots[0]
        quantile = scipy_stats.t.ppf(0.95, known(bot.uncertainty.degrees_of_freedom))
        reach = quantile * known(bot.uncertainty.standard_error)
        assert known(bot.high) - known(bot.estimate) == pytest.approx(reach)
        assert known(bot.estimate) - known(bot.low) == pytest.approx(reach)

    @pytest.mark.parametrize("clusters", [Clusters.CONVERSATION, Clusters.ANNOTATOR])
    def test_variances_of_clusters_are_the_jackknife_s(self, clusters):
        # Thirty conversations of six annotations by ten annotators; leave each cluster out in turn.
        games = play_games(simulated_table(1, per_pair=10, annotators=10))
        cluster = games.conversation if clusters is Clusters.CONVERSATION else games.annotator
        fit = rate_davidson(games, clusters=clusters)
        left_out = []
        for each in np.unique(cluster):
            kept = cluster != each
            rest = Games(
                games.bots, games.first[kept], games.second[kept], games.outcome[kept], games.conversation[kept],
                games.annotator[kept], games.unit, games.criterion,
            )  # fmt: skip
            left_out.append([known(bot.estimate) for bot in rate_davidson(rest).bots])
        g = len(left_out)
        jackknife = np.sqrt((g - 1) ** 2 / g * np.var(left_out, axis=0, ddof=1))
        alone = [known(bot.uncertainty.standard_error) for bot in rate_davidson(games, clusters=Clusters.NONE).bots]
        for bot, expected, single in zip(fit.bots, jackknife, alone, strict=True):
            assert known(bot.uncertainty.standard_error) == pytest.approx(max(expected, single), rel=0.06)

    def test_games_that_are_independent_have_the_model_s_standard_errors(self):
        fit = _rated(_counts(np.array(THREE.wins) * 40, np.array(THREE.ties) * 40), clusters=Clusters.NONE)
        for bot in fit.bots:
            assert bot.uncertainty.standard_error == pytest.approx(bot.model_standard_error, rel=0.1)

    def test_what_single_games_say_adds_up_to_nothing_at_the_maximum(self):
        fit = fit_davidson(THREE.wins.astype(float), np.triu(THREE.ties, 1).astype(float))
        scores = influence_of_games(_games(THREE), np.arange(3), fit).scores.toarray()
        np.testing.assert_allclose(scores.sum(axis=0), 0, atol=1e-8)
        assert np.abs(scores).max() > 0.5

    def test_without_ties_it_is_bradley_and_terry_s(self):
        fit = _rated(_counts([[0, 8], [2, 0]]))
        assert fit.bots[0].estimate == pytest.approx(math.log(8 / 2) / 2)
        assert fit.tie == 0
        # The information of a log odds of 10 games: 1 / (1 / 8 + 1 / 2); half of it is each strength.
        assert fit.bots[0].model_standard_error == pytest.approx(math.sqrt(1 / 8 + 1 / 2) / 2)

    def test_a_bot_never_beaten_has_a_finite_strength_and_a_flag(self):
        fit = _rated(_counts([[0, 5, 5], [0, 0, 3], [0, 2, 0]]))
        assert fit.separated
        first, second, third = all_known([bot.estimate for bot in fit.bots])
        assert first > second > third
        # The penalised likelihood, written out with half a win more on each side of the pairs.
        wins = np.array([[0, 5.5, 5.5], [0.5, 0, 3.5], [0.5, 2.5, 0]])
        found = lowest(
            lambda x: -_written_out(_counts(wins), np.append(x, -x.sum()), 0.0),
            np.zeros(2),
            options={"xatol": 1e-9, "fatol": 1e-12},
        )
        assert [first, second] == pytest.approx(found.x, abs=1e-5)

    @pytest.mark.parametrize(
        ("counts", "reason"),
        [
            (_counts([[0, 0], [0, 0]]), "no two bots met"),
            (_counts(np.zeros((0, 0), dtype=np.int64)), "no two bots met"),
            (_counts([[0, 0], [0, 0]], [[0, 4], [4, 0]]), "every game is a tie"),
        ],
    )
    def test_says_why_there_is_no_fit(self, counts, reason):
        fit = _rated(counts)
        assert (fit.reason, fit.tie) == (reason, None)
        assert all(bot.estimate is None and bot.reason for bot in fit.bots)

    def test_rates_the_largest_of_groups_that_never_met(self):
        fit = _rated(_counts([[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 8], [0, 0, 2, 0]]))
        assert [bot.estimate for bot in fit.bots[:2]] == [None, None]
        assert fit.bots[0].reason == "no chain of games leads from it to the bots that are rated"
        assert fit.bots[2].estimate == pytest.approx(math.log(4) / 2)
        assert fit.bots[2].low is not None

    def test_leaves_out_who_met_nobody(self):
        fit = _rated(_counts([[0, 8, 0], [2, 0, 0], [0, 0, 0]]))
        assert fit.bots[2].reason == "it met no other bot"
        assert fit.bots[0].estimate == pytest.approx(math.log(4) / 2)

    def test_a_hundred_bots(self):
        rng = np.random.default_rng(0)
        truth = np.linspace(-1, 1, 100)
        wins = np.zeros((100, 100), dtype=np.int64)
        for i in range(100):
            for j in range(i + 1, 100):
                wins[i, j] = rng.binomial(6, 1 / (1 + math.exp(truth[j] - truth[i])))
                wins[j, i] = 6 - wins[i, j]
        fit = _rated(PairCounts(bots=tuple(map(str, range(100))), wins=wins, ties=np.zeros_like(wins)))
        assert np.abs(np.array(all_known([bot.estimate for bot in fit.bots])) - truth).max() < 5 * known(
            fit.bots[0].model_standard_error
        )

    @settings(max_examples=15)
    @given(seed=st.integers(0, 1000))
    def test_the_order_of_bots_changes_nothing(self, seed):
        counts = count_wins(play_games(simulated_table(seed)))
        turned = PairCounts(bots=counts.bots[::-1], wins=counts.wins[::-1, ::-1], ties=counts.ties[::-1, ::-1])
        one, other = ({bot.bot: bot.estimate for bot in _rated(each).bots} for each in (counts, turned))
        assert one == pytest.approx(other, abs=1e-8)
