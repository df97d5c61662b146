import numpy as np
import pytest

from spotthebot.analytics.stats.more_data import design_of, plan_more
from spotthebot.analytics.stats.outcome_correlation import outcome_correlation
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.sample_size import plan_conversations
from spotthebot.analytics.stats.significance import pair_tests
from spotthebot.analytics.stats.wins import Unit, play_games
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import simulated_table, table_of
from tests.factories.known import known


class TestPlanMore:
    def test_needs_no_more_for_a_significant_pair_and_the_rest_for_another(self):
        games = play_games(simulated_table(2, per_pair=12, annotators=30))
        plan = plan_more(games, power=0.99)
        significant = {(test.bot, test.other): known(test.p_adjusted) < 0.05 for test in pair_tests(games)}
        assert set(significant.values()) == {False, True}
        for pair in plan.pairs:
            assert pair.n == 12
            conversations = known(pair.conversations)
            assert pair.more == (0 if significant[pair.bot, pair.other] else max(0, conversations - 12))

    @pytest.mark.parametrize("per_pair", [4, 40])
    def test_plans_each_pair_for_its_win_rate_and_both_ends_of_its_interval(self, per_pair):
        games = play_games(simulated_table(2, per_pair=per_pair, annotators=30))
        plan = plan_more(games, power=0.9, significance_level=0.01, confidence_level=0.8)
        intervals = rank_bots(games, confidence_level=0.8, n_resamples=1).pairs
        for pair, interval in zip(plan.pairs, intervals, strict=True):
            # Who won all of a few games is planned for as if they could lose one.
            most = 1 - 1 / (2 * interval.n + 2)
            needed = [
                plan_conversations(
                    min(max(known(rate), 1 - most), most), plan.design, power=0.9, significance_level=0.01, n_pairs=3
                )
                for rate in (interval.estimate, *sorted((known(interval.low), known(interval.high))))
            ]
            assert (pair.conversations, pair.annotators) == (needed[0].conversations, needed[0].annotators)
            nearer, farther = sorted(
                zip((known(interval.low), known(interval.high)), needed[1:], strict=True), key=lambda x: abs(x[0] - 0.5)
            )
            holds_even_odds = known(interval.low) <= 0.5 <= known(interval.high)
            assert pair.low == farther[1].conversations
            assert pair.high == (None if holds_even_odds else nearer[1].conversations)

    @pytest.mark.parametrize("labels", [(2, 0), (0, 2)])
    def test_plans_at_most_for_the_end_that_is_nearer_to_even_odds_whoever_leads(self, labels):
        rows = [(number, "A", "B", 2, labels[:: 1 if number % 10 else -1], number) for number in range(40)]
        games = play_games(table_of(rows, ("A", "B")))
        plan = plan_more(games)
        (pair,), (interval,) = plan.pairs, rank_bots(games, n_resamples=1).pairs
        low, high = known(interval.low), known(interval.high)
        assert high < 0.5 or low > 0.5
        needed = plan_conversations(low if low > 0.5 else high, plan.design, power=plan.power, n_pairs=1)
        assert pair.high == needed.conversations
        assert known(pair.low) < known(pair.conversations) < known(pair.high)

    def test_says_for_which_power_and_levels(self):
        plan = plan_more(play_games(simulated_table(2)), power=0.9, significance_level=0.01, confidence_level=0.8)
        assert (plan.power, plan.significance_level, plan.confidence_level) == (0.9, 0.01, 0.8)

    @pytest.mark.parametrize(
        ("rows", "reason"),
        [([(0, "A", "B", 2, (1, 1), 0)], "no game of the two was decided"), ([], "no game of the two was decided")],
    )
    def test_says_why_there_is_no_number(self, rows, reason):
        (pair,) = plan_more(play_games(table_of(rows, ("A", "B")))).pairs
        assert (pair.conversations, pair.more, pair.reason) == (None, None, reason)

    @pytest.mark.parametrize(("labels", "win_rate"), [((2, 0), 1), ((0, 2), 0)])
    def test_plans_for_a_bot_never_beaten_as_if_it_could_lose(self, labels, win_rate):
        rows = [(i, "A", "B", 2, labels, i) for i in range(6)]
        (pair,) = plan_more(play_games(table_of(rows, ("A", "B")))).pairs
        assert pair.win_rate == win_rate
        # Half a game of seven is taken from it: 1 - 1/14 of six won.
        plan = plan_more(play_games(table_of(rows, ("A", "B"))), power=0.999)
        rates = (1 / 14, 13 / 14, 1 / 13)
        needed = [known(plan_conversations(rate, plan.design, power=0.999).conversations) for rate in rates]
        assert plan.pairs[0].conversations == needed[0] == needed[1] < needed[2]

    def test_shares_the_level_among_all_pairs_that_met_however_seldom(self):
        rows = [(at, "A", "B", 2, (2, 0) if at % 3 else (0, 2), at) for at in range(30)]
        once = [(99, "A", "C", 2, (2, 0), 99)]
        plan = plan_more(play_games(table_of(rows + once, ("A", "B", "C"))))
        needed = plan_conversations(2 / 3, plan.design, n_pairs=2).conversations
        assert plan.pairs[0].conversations == needed != plan_conversations(2 / 3, plan.design).conversations

    def test_refuses_a_certain_power(self):
        with pytest.raises(SettingOutOfRange, match="power"):
            plan_more(play_games(simulated_table(2)), power=1.0)


class TestDesignOf:
    @pytest.mark.parametrize(("unit", "each"), [(Unit.ANNOTATION, 6), (Unit.SEGMENT, 3), (Unit.CONVERSATION, 1)])
    def test_is_that_of_the_games(self, unit, each):
        table = simulated_table(2, per_pair=10)
        games = play_games(table, unit=unit)
        design = design_of(games)
        assert design.annotations_per_conversation == each
        assert design.tie_rate == np.mean(games.outcome == 0)
        assert design.conversation_correlation == outcome_correlation(games)
        assert design.annotator_correlation == outcome_correlation(games, Clusters.ANNOTATOR)
        assert design.annotators is None

    @pytest.mark.parametrize("unit", list(Unit))
    def test_counts_the_games_in_which_annotators_took_part(self, unit):
        table = simulated_table(2, per_pair=10, annotators=4)
        columns = {
            Unit.ANNOTATION: [np.arange(len(table)), table.annotator],
            Unit.SEGMENT: [table.conversation, table.exchanges, table.annotator],
            Unit.CONVERSATION: [table.conversation, table.annotator],
        }[unit]
        parts = len(np.unique(np.column_stack(columns), axis=0))
        games = play_games(table, unit=unit)
        design = design_of(games)
        assert design.annotations_per_annotator == parts / 4
        assert design.annotators_per_game == parts / len(games)
