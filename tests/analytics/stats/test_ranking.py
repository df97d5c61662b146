import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spotthebot.analytics.stats.rank_ranges import clusters_of_ranges, published_rank_ranges, rank_ranges
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.win_rate_variance import WinRateVariance
from spotthebot.analytics.stats.wins import Unit, count_wins, play_games
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import renamed, shuffled, simulated_table, table_of
from tests.factories.known import known

seeds = st.integers(0, 10_000)


class TestRankBots:
    def test_remembers_how_it_was_made(self):
        ranking = rank_bots(
            play_games(simulated_table(1)), confidence_level=0.9, significance_level=0.2, n_resamples=50, seed=7
        )
        assert (ranking.confidence_level, ranking.significance_level, ranking.n_resamples) == (0.9, 0.2, 50)
        # Three pairs of four conversations, each annotated twice at three times, by five annotators in all.
        assert ranking.seed == 7
        assert ranking.n == 72
        assert ranking.n_comparisons == 3
        assert ranking.clusters == Clusters.BOTH
        assert {bot.uncertainty.annotators for bot in ranking.bots} == {5}

    def test_puts_the_best_first_with_the_win_rates_of_the_counts(self):
        games = play_games(simulated_table(1, per_pair=30))
        ranking = rank_bots(games, n_resamples=200)
        means = dict(zip(games.bots, count_wins(games).mean_win_rates, strict=True))
        assert [bot.bot for bot in ranking.bots] == ["C", "B", "A"]
        for bot in ranking.bots:
            assert bot.estimate == means[bot.bot]
            assert known(bot.low) < known(bot.estimate) < known(bot.high)
        assert [(bot.rank_low, bot.rank_high, bot.cluster) for bot in ranking.bots] == [(i, i, i) for i in (1, 2, 3)]

    @pytest.mark.parametrize("seed", range(4))
    def test_a_mean_has_the_jackknife_s_variance_over_annotators(self, seed):
        games = play_games(simulated_table(seed, per_pair=12))
        ranking = rank_bots(games, clusters=Clusters.ANNOTATOR, n_resamples=1)
        whole = count_wins(games).mean_win_rates
        changes = []
        for who in np.unique(games.annotator):
            kept = games.annotator != who
            columns = ("first", "second", "outcome", "conversation", "annotator")
            rest = replace(games, **{name: getattr(games, name)[kept] for name in columns})
            changes.append(count_wins(rest).mean_win_rates - whole)
        g = len(changes)
        expected = dict(zip(games.bots, np.sqrt((g - 1) / g * np.sum(np.square(changes), axis=0)), strict=True))
        single = rank_bots(games, clusters=Clusters.NONE, n_resamples=1)
        floor = {bot.bot: known(bot.uncertainty.standard_error) for bot in single.bots}
        for bot in ranking.bots:
            assert bot.uncertainty.standard_error == pytest.approx(max(expected[bot.bot], floor[bot.bot]), rel=1e-9)

    def test_habits_of_annotators_widen_the_interval(self):
        # Annotators 0 and 1 always prefer A, 2 to 4 toss a coin: their habits vary far more than conversations do.
        rng = np.random.default_rng(5)
        rows = [
            (conversation, "A", "B", 2, (2, 0) if who < 2 or rng.random() < 0.5 else (0, 2), who)
            for conversation in range(80)
            for who in range(5)
        ]
        games = play_games(table_of(rows, ("A", "B")))
        reach = {}
        for clusters in (Clusters.BOTH, Clusters.ANNOTATOR, Clusters.CONVERSATION):
            (pair,) = rank_bots(games, n_resamples=1, clusters=clusters).pairs
            reach[clusters] = known(pair.high) - known(pair.low)
        assert reach[Clusters.BOTH] == pytest.approx(reach[Clusters.ANNOTATOR], rel=0.05)
        assert reach[Clusters.ANNOTATOR] > 2 * reach[Clusters.CONVERSATION]
        # Five equal clusters: the variance of the mean of their shares, and Wilson's interval at Student's 2.776.
        share = np.mean(games.outcome > 0)
        by_annotator = [np.mean(games.outcome[games.annotator == who] > 0) for who in range(5)]
        weight = 2.7764**2 * (np.var(by_annotator, ddof=1) / 5) / (share * (1 - share))
        wilson = 2 * math.sqrt(weight * (share * (1 - share) + weight / 4)) / (1 + weight)
        assert reach[Clusters.ANNOTATOR] == pytest.approx(wilson, rel=1e-3)

    @pytest.mark.parametrize("unit", [Unit.SEGMENT, Unit.CONVERSATION])
    def test_games_that_join_annotations_share_their_annotators_too(self, unit):
        # Fifteen crews of two annotators take turns, each of one mind in all its six conversations: 15 minds, not 90.
        rows = [
            (at, "A", "B", 2, (2, 0) if at % 15 < 10 else (0, 2), who)
            for at in range(90)
            for who in (2 * (at % 15), 2 * (at % 15) + 1)
        ]
        games = play_games(table_of(rows, ("A", "B")), unit=unit)
        (both,), (alone,) = (
            rank_bots(games, n_resamples=1, clusters=clusters).pairs
            for clusters in (Clusters.BOTH, Clusters.CONVERSATION)
        )
        assert (both.uncertainty.conversations, both.uncertainty.annotators) == (90, 30)
        assert known(both.low) < known(alone.low) - 0.1

    @pytest.mark.parametrize("unit", [Unit.SEGMENT, Unit.CONVERSATION])
    def test_few_annotators_of_joined_games_have_no_interval_but_the_reason(self, unit):
        games = play_games(simulated_table(1, annotators=7, per_pair=20), unit=unit)
        ranking, panel = (
            rank_bots(games, n_resamples=1, clusters=clusters) for clusters in (Clusters.BOTH, Clusters.FIXED_PANEL)
        )
        for bot in ranking.bots:
            assert bot.low is None
            assert bot.high is None
            assert bot.rank_low == 1
            assert bot.rank_high == 3
            assert "annotators are too few" in known(bot.uncertainty.reason)
        assert all(bot.low is not None for bot in panel.bots)

    @pytest.mark.parametrize(("unit", "least"), [(Unit.SEGMENT, 20), (Unit.CONVERSATION, 30)])
    def test_joined_games_have_intervals_from_as_many_annotators_as_simulations_ask_for(self, unit, least):
        for annotators, known_at_all in ((least - 1, False), (least, True)):
            games = play_games(simulated_table(1, annotators=annotators, per_pair=80), unit=unit)
            ranking = rank_bots(games, n_resamples=1, clusters=Clusters.BOTH)
            assert {pair.uncertainty.annotators for pair in ranking.pairs} == {annotators}
            assert {bot.low is not None for bot in ranking.bots} == {known_at_all}

    @pytest.mark.parametrize(("level", "is_significant"), [(0.125, False), (0.1250001, True)])
    def test_a_p_value_at_the_level_is_not_significant(self, level: float, is_significant: bool):
        # Four games, all won, by an annotator each: two of 2⁴ sign flips are as far from even, p = .125.
        table = table_of([(at, "A", "B", 2, (2, 0), at) for at in range(4)], ("A", "B"))
        ranking = rank_bots(play_games(table), significance_level=level, n_resamples=1)
        assert [(bot.rank_low, bot.rank_high) for bot in ranking.bots] == (
            [(1, 1), (2, 2)] if is_significant else [(1, 2)] * 2
        )

    def test_only_ties_rank_nobody(self):
        table = table_of([(i, "A", "B", 2, (1, 1), 0) for i in range(4)], ("A", "B"))
        for bot in rank_bots(play_games(table), n_resamples=20).bots:
            assert bot.n == 0
            assert bot.estimate is None
            assert bot.low is None
            assert bot.rank_low is None
            assert bot.cluster is None
            assert (bot.tie_rate, bot.win_rate_with_ties) == (1.0, 0.0)

    def test_bot_without_games_stands_last_and_takes_no_rank(self):
        table = table_of([(i, "A", "B", 2, (2, 0), i) for i in range(8)], ("Z", "A", "B"))
        ranking = rank_bots(play_games(table), n_resamples=20)
        assert [bot.bot for bot in ranking.bots] == ["A", "B", "Z"]
        assert [(bot.rank_low, bot.rank_high) for bot in ranking.bots] == [(1, 1), (2, 2), (None, None)]

    def test_bots_that_never_met_are_not_ranked_by_rates_over_different_opponents(self):
        pairs = [("A", "B"), ("B", "C"), ("C", "D")]
        rows = [
            (10 * at + i, first, second, 2, (2, 0), i) for at, (first, second) in enumerate(pairs) for i in range(10)
        ]
        ranking = rank_bots(play_games(table_of(rows, ("A", "B", "C", "D"))), n_resamples=20)
        assert "A and C never met" in (ranking.reason or "")
        assert {(bot.rank_low, bot.cluster) for bot in ranking.bots} == {(None, None)}
        assert all(bot.estimate is not None for bot in ranking.bots)

    def test_the_ranks_are_one_family_of_all_comparisons(self):
        # A always beats B: of two bots p is 2 * .5⁶ = .031. With C beside, three comparisons tell less.
        rows = [(at, "A", "B", 2, (2, 0), at) for at in range(6)]
        (best, _) = rank_bots(play_games(table_of(rows, ("A", "B"))), n_resamples=1).bots
        assert (best.rank_low, best.rank_high) == (1, 1)
        rows += [(10 + at, "B", "C", 2, (2, 0) if at % 2 else (0, 2), at) for at in range(6)]
        rows += [(20 + at, "A", "C", 2, (2, 0) if at % 2 else (0, 2), at) for at in range(6)]
        ranking = rank_bots(play_games(table_of(rows, ("A", "B", "C"))), n_resamples=1)
        assert {(bot.rank_low, bot.rank_high, bot.cluster) for bot in ranking.bots} == {(1, 3, 1)}

    def test_a_pair_of_one_cluster_enters_the_mean_with_the_largest_variance_of_a_share(self):
        # A meets B in ten conversations by ten annotators, and C in one alone: the mean's variance has .25 / 2² more.
        rows = [(at, "A", "B", 2, (2, 0) if at % 2 else (0, 2), at) for at in range(10)]
        with_c = play_games(table_of([*rows, (20, "A", "C", 2, (2, 0), 3)], ("A", "B", "C")))
        of_a = WinRateVariance(with_c).means.variance.variance[0]
        (alone,) = rank_bots(play_games(table_of(rows, ("A", "B"))), n_resamples=1).pairs
        half = known(alone.uncertainty.standard_error) ** 2 / 4
        # With C there is one conversation more, whose influence is nothing, among the clusters of the jackknife.
        assert of_a == pytest.approx(0.25 / 4 + half, rel=0.02)

    @pytest.mark.parametrize("clusters", Clusters)
    def test_the_lead_of_one_of_two_bots_varies_as_their_win_rate_does(self, clusters):
        # (1 + p - (1 - p)) / 2 is p itself.
        rates = WinRateVariance(play_games(simulated_table(7, names=("A", "B"), per_pair=30, annotators=9)), clusters)
        lead = rates.differences(np.array([0]), np.array([1]))
        assert lead.share == pytest.approx(rates.pairs.share, rel=1e-12)
        assert lead.variance.variance == pytest.approx(rates.pairs.variance.variance, rel=1e-9)

    def test_the_leads_among_pairs_of_one_conversation_each_vary_as_much_as_they_can(self):
        # Each bot's mean is half the sum of two shares, which vary by 1/4 at most, perhaps together: the error of a
        # mean is sqrt(2 * (1/2)² / 4) = sqrt(1/8), that of half the difference of two (sqrt(1/8) + sqrt(1/8)) / 2.
        rows = [(0, "A", "B", 2, (2, 0), 0), (1, "A", "C", 2, (2, 0), 1), (2, "B", "C", 2, (2, 0), 2)]
        rates = WinRateVariance(play_games(table_of(rows, ("A", "B", "C"))), Clusters.CONVERSATION)
        leads = rates.differences(np.array([0, 0, 1]), np.array([1, 2, 2]))
        assert leads.variance.variance == pytest.approx([1 / 8, 1 / 8, 1 / 8], rel=1e-12)

    def test_a_mean_of_three_pairs_weighs_as_many_games_as_would_vary_as_little(self):
        # Each of four bots has three pairs of n = 2, 4 and 4 games or all of 4: the mean of k shares, each of variance
        # v / n, varies by v * sum(1 / n) / k², as a share of k² / sum(1 / n) games does.
        games = {("A", "B"): 2, ("A", "C"): 4, ("A", "D"): 4, ("B", "C"): 4, ("B", "D"): 4, ("C", "D"): 4}
        labels = [(2, 0), (0, 2)]
        played = [(*pair, labels[at % 2]) for pair, n in games.items() for at in range(n)]
        rows = [(at, first, second, 2, label, at) for at, (first, second, label) in enumerate(played)]
        rates = WinRateVariance(play_games(table_of(rows, ("A", "B", "C", "D"))), Clusters.NONE)
        assert rates.means.n == pytest.approx([9 / 1.0, 9 / 1.0, 9 / 0.75, 9 / 0.75])

    @pytest.mark.parametrize(
        "setting", [{"confidence_level": 1.0}, {"confidence_level": 0.0}, {"n_resamples": 0}, {"significance_level": 0}]
    )
    def test_refuses_settings_out_of_range(self, setting):
        games = play_games(table_of([(0, "A", "B", 2, (2, 0), 0)], ("A", "B")))
        with pytest.raises(SettingOutOfRange):
            rank_bots(games, **setting)

    @pytest.mark.parametrize("names", [(), ("A",)])
    @pytest.mark.parametrize("clusters", Clusters)
    def test_fewer_than_two_bots_make_an_empty_ranking(self, names, clusters):
        ranking = rank_bots(play_games(table_of([], names)), n_resamples=20, clusters=clusters)
        assert [bot.estimate for bot in ranking.bots] == [None] * len(names)
        assert ranking.pairs == ()

    @settings(max_examples=25)
    @given(seed=seeds, clusters=st.sampled_from(Clusters), unit=st.sampled_from(Unit))
    @example(seed=510, clusters=Clusters.BOTH, unit=Unit.CONVERSATION)  # two bots with equal rates in another order
    def test_order_of_rows_and_of_names_changes_nothing(self, seed, clusters, unit):
        table = simulated_table(seed, names=("A", "B", "C", "D"), annotations=1)
        ranking, *others = (
            rank_bots(play_games(t, unit=unit), n_resamples=1, clusters=clusters)
            for t in (table, shuffled(table, seed), renamed(table, seed))
        )
        for again in others:
            for bot, same in zip(ranking.bots, again.bots, strict=True):
                assert bot.bot == same.bot
                assert bot.rank_low == same.rank_low
                assert bot.rank_high == same.rank_high
                assert bot.cluster == same.cluster
                assert (bot.estimate, bot.low, bot.high) == pytest.approx(
                    (same.estimate, same.low, same.high), abs=1e-9
                )


class TestRankRanges:
    @pytest.mark.parametrize("bots", [0, 1])
    def test_one_bot_is_the_first_and_none_have_no_ranks(self, bots: int):
        low, high = rank_ranges(np.full((5, bots), 0.5), 0.95)
        assert (low.tolist(), high.tolist()) == ([1] * bots, [1] * bots)

    def test_takes_percentiles_of_the_ranks(self):
        # A is first in 38 of 40 replicates and second in 2: 5 % is more than the 2.5 % of one tail.
        rates = np.array([[0.9, 0.5, 0.1]] * 38 + [[0.5, 0.9, 0.1]] * 2)
        assert [bound.tolist() for bound in rank_ranges(rates, 0.95)] == [[1, 1, 3], [2, 2, 3]]
        assert [bound.tolist() for bound in rank_ranges(rates, 0.80)] == [[1, 2, 3], [1, 2, 3]]

    def test_a_tail_of_exactly_half_the_rest_is_cut_off(self):
        # One replicate of 40 is 2.5 %: beyond the upper bound, while the lower bound is the 2.5 % point itself.
        rates = np.array([[0.9, 0.5]] * 39 + [[0.5, 0.9]])
        assert [bound.tolist() for bound in rank_ranges(rates, 0.95)] == [[1, 1], [1, 2]]

    def test_equal_bots_share_their_ranks(self):
        assert [bound.tolist() for bound in rank_ranges(np.array([[0.5, 0.5, 0.1]]), 0.95)] == [[1, 1, 3], [2, 2, 3]]

    def test_order_of_summation_breaks_no_tie(self):
        rates = np.array([[0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1]])
        assert rates[0, 0] != rates[0, 1]
        assert [bound.tolist() for bound in rank_ranges(rates, 0.95)] == [[1, 1], [2, 2]]

    def test_unknown_rate_could_be_any_rank(self):
        low, high = rank_ranges(np.array([[0.9, np.nan, 0.1]]), 0.95)
        assert low.tolist() == [1, 1, 2]
        assert high.tolist() == [2, 3, 3]


class TestPublishedRankRanges:
    @pytest.mark.parametrize("settings_", [{"n_matches": 0}, {"share": 0.0}, {"share": 1.0}, {"n_resamples": 0}])
    def test_refuses_settings_out_of_range(self, settings_):
        with pytest.raises(SettingOutOfRange, match=next(iter(settings_))):
            published_rank_ranges(play_games(simulated_table(3)), **settings_)

    def test_one_match_a_replicate_is_enough(self):
        games = play_games(simulated_table(3))
        assert published_rank_ranges(games, n_matches=1, n_resamples=10).reason is None

    @pytest.mark.parametrize(("n_matches", "drawn"), [(7, 7), (None, 72)])
    def test_draws_as_many_matches_as_it_is_asked_for_or_as_there_were(self, n_matches: int | None, drawn: int):
        games = play_games(simulated_table(3))
        ranges = published_rank_ranges(games, n_matches=n_matches, n_resamples=10)
        assert (ranges.n_matches, len(games)) == (drawn, 72)
        assert ranges == published_rank_ranges(games, n_matches=drawn, n_resamples=10)


class TestClustersOfRanges:
    @pytest.mark.parametrize(
        ("low", "high", "clusters"),
        [
            ([1, 2, 3], [1, 2, 3], [1, 2, 3]),
            ([1, 1, 3, 3], [2, 2, 4, 4], [1, 1, 2, 2]),
            # The first and third do not overlap, but the second joins them.
            ([1, 2, 3, 5], [2, 3, 4, 5], [1, 1, 1, 2]),
            ([4, 1, 2], [4, 2, 3], [2, 1, 1]),
            ([], [], []),
        ],
    )
    def test_joins_what_overlaps_transitively(self, low, high, clusters):
        assert clusters_of_ranges(np.array(low), np.array(high)).tolist() == clusters
