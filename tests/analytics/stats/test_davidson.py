import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from spotthebot.analytics.stats import PairCounts, count_wins, play_games, rate_davidson
from tests.factories.annotation_tables import simulated_table
from tests.factories.known import all_known, known, lowest


def _counts(wins, ties=None, bots="ABCDEFGH"):
    wins = np.array(wins)
    ties = np.zeros_like(wins) if ties is None else np.array(ties)
    return PairCounts(bots=tuple(bots[: len(wins)]), wins=wins, ties=ties)


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
        fit = rate_davidson(_counts([[0, 2, 0], [0, 0, 0], [0, 0, 0]], [[0, 1, 1], [1, 0, 0], [1, 0, 0]]))
        assert fit.separated
        assert all(bot.standard_error is not None and 0 < bot.standard_error < 10 for bot in fit.bots)
        assert all(bot.estimate is not None and abs(bot.estimate) < 5 for bot in fit.bots)

    @given(st.lists(st.integers(0, 2), min_size=9, max_size=9))
    @settings(max_examples=40, deadline=None)
    def test_is_found_where_the_likelihood_written_out_has_no_maximum(self, games):
        wins, ties = np.zeros((3, 3), dtype=int), np.zeros((3, 3), dtype=int)
        for (i, j), (won, lost, tied) in zip(
            [(0, 1), (0, 2), (1, 2)], zip(*[iter(games)] * 3, strict=True), strict=True
        ):
            wins[i, j], wins[j, i], ties[i, j] = won, lost, tied
        counts = _counts(wins.tolist(), (ties + ties.T).tolist())
        fit = rate_davidson(counts)
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
        fit = rate_davidson(THREE)
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
        fit = rate_davidson(THREE)
        assert [bot.estimate for bot in fit.bots[:2]] == pytest.approx(fitted.params[3:5], abs=1e-8)
        assert [bot.standard_error for bot in fit.bots[:2]] == pytest.approx(fitted.bse[3:5], rel=1e-6)
        assert math.log(known(fit.tie)) == pytest.approx(fitted.params[5], abs=1e-8)

    def test_bounds_are_wald_s(self):
        bot = rate_davidson(THREE, confidence_level=0.9).bots[0]
        assert known(bot.high) - known(bot.estimate) == pytest.approx(1.6448536 * known(bot.standard_error))

    def test_without_ties_it_is_bradley_and_terry_s(self):
        fit = rate_davidson(_counts([[0, 8], [2, 0]]))
        assert fit.bots[0].estimate == pytest.approx(math.log(8 / 2) / 2)
        assert fit.tie == 0
        # The information of a log odds of 10 games: 1 / (1 / 8 + 1 / 2); half of it is each strength.
        assert fit.bots[0].standard_error == pytest.approx(math.sqrt(1 / 8 + 1 / 2) / 2)

    def test_a_bot_never_beaten_has_a_finite_strength_and_a_flag(self):
        fit = rate_davidson(_counts([[0, 5, 5], [0, 0, 3], [0, 2, 0]]))
        assert fit.separated
        first, second, third = all_known([bot.estimate for bot in fit.bots])
        assert first > second > third
        assert all(math.isfinite(known(bot.standard_error)) for bot in fit.bots)

    @pytest.mark.parametrize(
        ("counts", "reason"),
        [
            (_counts([[0, 0], [0, 0]]), "no two bots met"),
            (_counts(np.zeros((0, 0), dtype=np.int64)), "no two bots met"),
            (_counts([[0, 0], [0, 0]], [[0, 4], [4, 0]]), "every game is a tie"),
            (
                _counts([[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 2, 0]]),
                "there are groups of bots that never met each other",
            ),
        ],
    )
    def test_says_why_there_is_no_fit(self, counts, reason):
        fit = rate_davidson(counts)
        assert (fit.reason, fit.tie) == (reason, None)
        assert all(bot.estimate is None and bot.reason for bot in fit.bots)

    def test_leaves_out_who_met_nobody(self):
        fit = rate_davidson(_counts([[0, 8, 0], [2, 0, 0], [0, 0, 0]]))
        assert fit.bots[2].reason == "it met no other bot"
        assert fit.bots[0].estimate == pytest.approx(math.log(4) / 2)

    def test_a_hundred_bots(self):
        rng = np.random.default_rng(0)
        truth = np.linspace(-1, 1, 100)
        wins = np.zeros((100, 100), dtype=np.int64)
        for i in range(100):
            for j in range(i + 1, 100):
                wins[i, j] = rng.binomial(20, 1 / (1 + math.exp(truth[j] - truth[i])))
                wins[j, i] = 20 - wins[i, j]
        fit = rate_davidson(PairCounts(bots=tuple(map(str, range(100))), wins=wins, ties=np.zeros_like(wins)))
        assert np.abs(np.array(all_known([bot.estimate for bot in fit.bots])) - truth).max() < 5 * known(
            fit.bots[0].standard_error
        )

    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 1000))
    def test_the_order_of_bots_changes_nothing(self, seed):
        counts = count_wins(play_games(simulated_table(seed)))
        turned = PairCounts(bots=counts.bots[::-1], wins=counts.wins[::-1, ::-1], ties=counts.ties[::-1, ::-1])
        one, other = ({bot.bot: bot.estimate for bot in rate_davidson(each).bots} for each in (counts, turned))
        assert one == pytest.approx(other, abs=1e-8)
