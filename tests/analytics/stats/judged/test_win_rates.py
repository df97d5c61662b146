"""Corrected win rates, ranks and survival, against the suite's own of people alone and definitions written out."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.analytics.judges.campaigns import Campaign, Setting, draw_campaign
from spotthebot.analytics.stats.annotations import AnnotationTable, LabelCode
from spotthebot.analytics.stats.errors import AnnotationTableMalformed
from spotthebot.analytics.stats.judged import checks
from spotthebot.analytics.stats.judged.games import judged_win_rates
from spotthebot.analytics.stats.judged.intervals import Interval
from spotthebot.analytics.stats.judged.sides import JudgedSides, match_sides
from spotthebot.analytics.stats.judged.survival import judged_survival
from spotthebot.analytics.stats.judged.win_rates import PeopleWins, game_columns
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.survival.curves import current_status, survival_curves
from spotthebot.analytics.stats.wins import play_games
from tests.analytics.stats.judged.conftest import answers

_NOTHING = np.full((2400, 2), 0.5)


def _width(interval: Interval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return interval.high - interval.low


class TestWinRates:
    def test_are_those_of_the_suite_for_people_to_the_bit(self, campaign: Campaign):
        found = judged_win_rates(campaign.table, campaign.judged(answers(campaign)))
        expected = rank_bots(play_games(campaign.table), n_resamples=1)
        assert [
            (each.bot, each.other, each.people.estimate, each.people.low, each.people.high, each.n_people)
            for each in found.pairs
        ] == [(each.bot, each.other, each.estimate, each.low, each.high, each.n) for each in expected.pairs]
        means = {each.bot: each for each in expected.bots}
        for each in found.bots:
            own = means[each.bot]
            assert (each.people.estimate, each.people.low, each.people.high) == (own.estimate, own.low, own.high)

    def test_move_by_one_lambda_times_the_judge_s_lead(self, campaign: Campaign):
        """The judge's lead of a pair's first bot: its mean over games of people minus its mean over all, by length."""
        said = answers(campaign)
        found, k = judged_win_rates(campaign.table, campaign.judged(said)), 4
        shifts = np.zeros((k, k))
        table = campaign.table
        for each in found.pairs:
            first, second = table.names.index(each.bot), table.names.index(each.other)
            side = np.where(campaign.entity[:, 0] == first, 0, 1)
            lead = said[np.arange(2400), side] - said[np.arange(2400), 1 - side]
            every = np.all(np.sort(campaign.entity, axis=1) == [first, second], axis=1)
            games = table.conversation[every[table.conversation]]
            difference = sum(
                (campaign.exchanges[games] == length).mean()
                * (
                    lead[games][campaign.exchanges[games] == length].mean()
                    - lead[every & (campaign.exchanges == length)].mean()
                )
                for length in (2, 3, 5)
            )
            assert each.people.estimate is not None
            assert each.slope in {found.slope, 0.0}  # a pair whose interval would be wider keeps people's rate
            assert each.corrected.estimate == pytest.approx(each.people.estimate - each.slope * difference, abs=1e-12)
            shifts[first, second] = -found.slope * difference
            assert _width(each.corrected) <= _width(each.people)
        shifts -= shifts.T
        for bot in found.bots:
            assert bot.corrected.estimate is not None
            assert bot.people.estimate is not None
            shift = shifts[table.names.index(bot.bot)].sum() / (k - 1)
            assert bot.corrected.estimate - bot.people.estimate == pytest.approx(shift, abs=1e-12)
            of_pairs = [
                each.judge if each.bot == bot.bot else 1 - each.judge
                for each in found.pairs
                if bot.bot in {each.bot, each.other} and each.judge is not None
            ]
            assert bot.judge == pytest.approx(np.mean(of_pairs))
        assert found.slope > 0
        assert any(each.slope == 0 for each in found.pairs)

    def test_do_not_depend_on_which_side_a_bot_has(self, campaign: Campaign):
        said, table = answers(campaign), campaign.table
        turned = replace(table, entity=table.entity[:, ::-1], label=table.label[:, ::-1])
        sides = JudgedSides(
            np.arange(2400), campaign.entity[:, ::-1], campaign.exchanges, np.ascontiguousarray(said[:, ::-1])
        )
        one, other = judged_win_rates(table, campaign.judged(said)), judged_win_rates(turned, sides)
        for first, second in zip(one.pairs, other.pairs, strict=True):
            assert second.corrected.estimate == pytest.approx(first.corrected.estimate, abs=1e-12)
            assert second.corrected.high == pytest.approx(first.corrected.high, abs=1e-9)

    def test_are_people_s_for_a_judge_without_an_opinion(self):
        strong = draw_campaign(Setting(40, 0.0), np.random.default_rng(0), skill=np.array([-3.0, -1.0, 1.0, 3.0]))
        found = judged_win_rates(strong.table, strong.judged(_NOTHING))
        expected = rank_bots(play_games(strong.table), n_resamples=1)
        assert [(each.bot, each.rank_low, each.rank_high) for each in found.bots] == [
            (each.bot, each.rank_low, each.rank_high) for each in expected.bots
        ]
        assert any(each.rank_low == each.rank_high for each in found.bots)
        assert {each.reason for each in found.pairs} == {checks.CONSTANT}

    def test_know_the_labels_of_other_judges(self, campaign: Campaign):
        people = PeopleWins.of(campaign.table)
        sides = campaign.judged(answers(campaign))
        assert judged_win_rates(campaign.table, sides, people=people) == judged_win_rates(campaign.table, sides)

    def test_give_no_ranks_to_bots_that_never_met(self, campaign: Campaign):
        apart = ~np.all(np.sort(campaign.table.entity, axis=1) == [0, 3], axis=1)
        found = judged_win_rates(campaign.table.select(apart), campaign.judged(answers(campaign)))
        assert found.reason == "no game of A and D was decided"
        assert {each.rank_low for each in found.bots} == {None}
        assert found.pairs[2].people.estimate is None

    def test_are_none_without_two_bots(self):
        empty = AnnotationTable.from_rows([(0, "A", "A", 2, "bot", "human", 0)])
        sides = JudgedSides(np.array([0]), np.array([[0, 0]]), np.array([2]), np.array([[0.5, 0.5]]))
        found = judged_win_rates(empty, sides)
        assert (found.pairs, found.reason) == ((), "there are no two bots")


class TestGameColumns:
    def test_have_the_influence_of_the_win_rate(self, campaign: Campaign):
        """A decided game changes Eq. 1 by (won - rate) / decided games; a tie changes nothing."""
        people = PeopleWins.of(campaign.table)
        rows, units = game_columns(campaign.table, campaign.judged(answers(campaign)), people.pairs.share)
        for pair in range(6):
            mine = rows.statistic == pair
            influence = rows.residual[mine] / mine.sum()
            decided = influence != 0
            assert decided.sum() == people.pairs.n[pair]
            assert influence.sum() == pytest.approx(0, abs=1e-12)
            won = influence > 0
            np.testing.assert_allclose(influence[won], (1 - people.pairs.share[pair]) / decided.sum(), rtol=1e-12)
            assert won.sum() / decided.sum() == pytest.approx(people.pairs.share[pair])
        assert len(units.judge) == 2400
        assert units.labelled.sum() == 160


class TestSides:
    def test_with_two_rows_of_one_segment_are_refused(self):
        with pytest.raises(AnnotationTableMalformed, match="two rows for one segment"):
            JudgedSides(np.array([0, 0]), np.zeros((2, 2), dtype=int), np.array([2, 2]), np.full((2, 2), 0.5))

    def test_with_a_probability_beyond_one_are_refused(self):
        with pytest.raises(AnnotationTableMalformed, match="not between 0 and 1"):
            JudgedSides(np.array([0]), np.zeros((1, 2), dtype=int), np.array([2]), np.array([[0.5, 1.5]]))

    def test_lack_an_answer_for_labelled_segments_that_nobody_judged(self):
        table = AnnotationTable.from_rows([(0, "A", "B", 2, "bot", "human", 0), (0, "A", "B", 3, "bot", "human", 1)])
        sides = JudgedSides(np.array([0, 7]), np.array([[0, 1], [0, 1]]), np.array([2, 2]), np.array([[0.1, 0.9]] * 2))
        rows = match_sides(table, sides)
        assert (rows.n, rows.annotator.tolist()) == (2, [0, 1, -1])
        assert np.isnan(rows.judge).tolist() == [[False, False], [True, True], [False, False]]


class TestSurvival:
    def test_is_that_of_the_suite_for_people(self, campaign: Campaign):
        found = judged_survival(campaign.table, campaign.judged(answers(campaign)))
        assert tuple(each.people for each in found) == survival_curves(current_status(campaign.table))

    @pytest.mark.parametrize("seed", [0, 1, 11, 34, 45, 49])
    def test_never_rises_and_is_never_less_certain(self, seed: int):
        """In the last four campaigns, pooling further would make an interval wider than people's."""
        drawn = draw_campaign(Setting(8, 0.18), np.random.default_rng(seed))
        for curve in judged_survival(drawn.table, drawn.judged(answers(drawn, "adversarial", seed))):
            estimates = [point.estimate or 0.0 for point in curve.corrected]
            assert estimates == sorted(estimates, reverse=True)
            for point, low, high in zip(curve.corrected, curve.people.low, curve.people.high, strict=True):
                assert point.low is not None
                assert point.high is not None
                assert low is not None
                assert high is not None
                assert point.high - point.low <= high - low + 1e-9

    def test_moves_each_time_by_the_difference_of_the_judge_at_that_time(self):
        """Of curves without pools: each time's share moves by lambda times the judge's difference at this time."""
        drawn = draw_campaign(Setting(40, 0.0), np.random.default_rng(1))
        said = answers(drawn)
        table, moved = drawn.table, 0
        for code, curve in enumerate(judged_survival(table, drawn.judged(said))):
            if len({*curve.people.estimate}) < 3 or len({point.estimate for point in curve.corrected}) < 3:
                continue
            for at, length in enumerate((2, 3, 5)):
                of_rows = (table.entity == code) & (table.exchanges == length)[:, None]
                every = (drawn.entity == code) & (drawn.exchanges == length)[:, None]
                difference = said[table.conversation][of_rows].mean() - said[every].mean()
                expected = (table.label != LabelCode.BOT)[of_rows].mean() - curve.slope * difference
                assert curve.corrected[at].estimate == pytest.approx(expected, abs=1e-12)
                moved += curve.slope != 0
        assert moved
