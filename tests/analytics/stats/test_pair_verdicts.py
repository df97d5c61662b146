"""Verdicts on pairs at any look: the t mixture by scipy's densities, design effects by the variances of win rates."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy

from spotthebot.analytics.stats.annotations import AnnotationTable
from spotthebot.analytics.stats.errors import CriterionUnknown
from spotthebot.analytics.stats.pair_verdicts import PairVerdict, Verdict, pair_verdicts
from spotthebot.analytics.stats.verdict_bounds import mixture_reach
from spotthebot.analytics.stats.win_rate_variance import WinRateVariance
from spotthebot.analytics.stats.wins import play_games
from spotthebot.statistics.errors import SettingOutOfRange
from tests.analytics.stats.annotation_tables import simulated_table, table_of
from tests.factories.known import known

_WIN, _LOSS, _TIE = (2, 0), (0, 2), (1, 1)


def _duel(wins: int, losses: int, *, annotators: int = 12, each: int = 2) -> AnnotationTable:
    """Return games of A and B, `each` of a conversation, dealt to annotators in turn."""
    rng = np.random.default_rng(0)
    labels = [(_WIN if at < wins else _LOSS) for at in rng.permutation(wins + losses).tolist()]
    rows = [(at // each, "A", "B", 2, label, at % annotators) for at, label in enumerate(labels)]
    return table_of(rows, ("A", "B"))


def _verdict(table: AnnotationTable, margin: float | None = None) -> PairVerdict:
    (found,) = pair_verdicts(table, margin=margin)
    return found


class TestMixtureReach:
    @pytest.mark.parametrize("variance", [0.0004, 0.003, 0.006])
    @pytest.mark.parametrize("degrees", [5.0, 14.5, 200.0])
    def test_is_where_the_ratio_of_student_densities_is_reached(self, variance: float, degrees: float):
        # A rate around the true one with a standard deviation of .25 adds .25² to the variance of the estimate.
        ratio = 60.0
        t = mixture_reach(variance, degrees, ratio) / math.sqrt(variance)
        spread = math.sqrt(1 + 0.25**2 / variance)
        around, at_truth = scipy.stats.t.pdf(t / spread, degrees) / spread, scipy.stats.t.pdf(t, degrees)
        assert around / at_truth == pytest.approx(ratio, rel=1e-8)

    def test_is_infinite_with_few_degrees_and_a_large_variance(self):
        # The ratio of densities is at most (1 + g)^(v / 2): with g = 1 and v = 2 it is 2.
        assert math.isinf(mixture_reach(0.25**2, 2.0, 2.001))
        assert not math.isinf(mixture_reach(0.25**2, 2.0, 1.999))


class TestPairVerdicts:
    def test_sees_each_pair_from_its_first_bot(self):
        ahead, behind = _verdict(_duel(230, 10)), _verdict(_duel(10, 230))
        assert (ahead.verdict, behind.verdict) == (Verdict.AHEAD, Verdict.BEHIND)
        assert ahead.estimate == pytest.approx(220 / 240)
        assert known(ahead.low) > 0
        assert known(behind.high) < 0

    def test_bounds_follow_from_the_variance_of_the_win_rate(self):
        table = simulated_table(3, per_pair=30, annotators=14)
        games = play_games(table)
        share, n, variance = WinRateVariance(games).pairs
        pooled = variance.pooled
        assert pooled is not None
        for at, pair in enumerate(pair_verdicts(table)):
            of_pair = (games.first == [0, 0, 1][at]) & (games.second == [1, 2, 2][at]) & (games.outcome != 0)
            counts = [np.bincount(column[of_pair]) for column in (games.annotator, games.conversation)]
            others = sum(float(np.sum(each**2)) / of_pair.sum() - 1 for each in counts)
            effect = max(pooled.own[at], pooled.expected[at], pooled.design_effect[at], 1 + 0.05 * others)
            worth = n[at] / effect
            rate = (share[at] * worth + 4) / (worth + 8)
            busy = np.bincount(games.annotator[games.outcome != 0])
            degrees = 2 * (busy.sum() ** 2 / np.sum(busy**2) - 1)
            reach = 2 * mixture_reach(rate * (1 - rate) / worth, degrees, 3 / 0.05)
            assert pair.low == pytest.approx(max(-1, 2 * share[at] - 1 - reach))
            assert pair.high == pytest.approx(min(1, 2 * share[at] - 1 + reach))

    def test_counts_rows_of_one_conversation_as_less_than_rows_of_several(self):
        width = {
            each: known(found.high) - known(found.low)
            for each in (1, 6)
            for found in [_verdict(_duel(120, 120, each=each))]
        }
        assert width[6] > width[1]

    def test_two_bots_of_few_annotators_stay_open_whatever_they_show(self):
        found = _verdict(_duel(300, 0, annotators=5))
        assert (found.verdict, found.low, found.high) == (Verdict.OPEN, None, None)
        assert found.more_conversations is None
        assert known(found.more_annotators) >= 1
        assert found.reason == "5 annotators are too few, whatever the number of conversations"

    def test_six_equally_busy_annotators_are_enough(self):
        assert _verdict(_duel(300, 0, annotators=6)).verdict is Verdict.AHEAD

    def test_equivalent_bots_are_within_the_margin_on_both_sides(self):
        table = _duel(2000, 2000, annotators=200)
        found = _verdict(table, margin=0.2)
        assert found.verdict is Verdict.EQUIVALENT
        assert -0.2 < known(found.low) < 0 < known(found.high) < 0.2
        assert _verdict(table).verdict is Verdict.OPEN
        assert _verdict(table, margin=known(found.high) / 2).verdict is Verdict.OPEN

    def test_bots_ahead_by_less_than_the_margin_are_ahead(self):
        assert _verdict(_duel(3000, 1000, annotators=200), margin=0.9).verdict is Verdict.AHEAD

    def test_needs_decide_a_pair_where_the_same_is_seen_again(self):
        open_ = _verdict(_duel(36, 16, annotators=20))
        assert open_.verdict is Verdict.OPEN
        more = known(open_.more_annotators)
        times = -(-(20 + more) // 20)
        again = _duel(36 * times, 16 * times, annotators=20 * times)
        assert _verdict(again).verdict is Verdict.AHEAD

    def test_even_bots_have_no_need_that_helps(self):
        found = _verdict(_duel(100, 100))
        assert (found.more_conversations, found.more_annotators) == (None, None)
        assert found.reason == "even bots cannot be told apart"

    def test_strong_tastes_leave_no_number_of_conversations(self):
        # Eight annotators always prefer A, four always prefer B: more games of the same people tell no more.
        rows = [(at, "A", "B", 2, _WIN if at % 12 < 8 else _LOSS, at % 12) for at in range(240)]
        found = _verdict(table_of(rows, ("A", "B")))
        assert found.verdict is Verdict.OPEN
        assert found.more_conversations is None
        assert known(found.more_annotators) > 0
        assert found.reason == "12 annotators are too few, whatever the number of conversations"

    @pytest.mark.parametrize(
        ("rows", "reason"),
        [
            ([], "no game of the two was decided"),
            ([(0, "A", "B", 2, _TIE, 0)], "no game of the two was decided"),
            (
                [(0, "A", "B", 2, _WIN, 0), (1, "A", "B", 2, _WIN, 0)],
                "bounds need games of at least two conversations and two annotators",
            ),
        ],
    )
    def test_says_why_there_are_no_bounds(self, rows, reason):
        found = _verdict(table_of(rows, ("A", "B")))
        assert (found.verdict, found.low, found.high, found.reason) == (Verdict.OPEN, None, None, reason)

    def test_every_pair_of_named_bots_counts(self):
        table = _duel(150, 90)
        alone, among = _verdict(table), pair_verdicts(replace(table, names=("A", "B", "C", "D")))
        assert (alone.n_pairs, among[0].n_pairs, len(among)) == (1, 6, 6)
        assert known(among[0].low) < known(alone.low)
        assert pair_verdicts(replace(table.select(table.conversation < 0), names=("A",))) == ()

    @pytest.mark.parametrize("margin", [0, 1, -0.1, float("nan")])
    def test_refuses_a_margin_that_is_no_difference(self, margin):
        with pytest.raises(SettingOutOfRange, match="margin"):
            pair_verdicts(_duel(1, 1), margin=margin)

    def test_other_measures_are_features(self):
        table = simulated_table(1, per_pair=20, annotators=12)
        feature = next(iter(table.features))
        won = play_games(table, criterion=feature).outcome
        assert sum(each.n for each in pair_verdicts(table, criterion=feature)) == np.sum(won != 0)
        with pytest.raises(CriterionUnknown):
            pair_verdicts(table, criterion="charm")
