import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotthebot.analytics.stats import Resample, SettingOutOfRange, Unit, count_wins, play_games, rank_bots
from spotthebot.analytics.stats.rank_ranges import clusters_of_ranges, rank_ranges
from tests.factories.annotation_tables import renamed, shuffled, simulated_table, table_of
from tests.factories.known import known

seeds = st.integers(0, 10_000)


def _two_bots(wins_by_conversation):
    """Conversations of five annotations each, of which A wins so many and B the rest."""
    rows = [
        (conversation, "A", "B", 2, (2, 0) if annotation < wins else (0, 2), annotation)
        for conversation, wins in enumerate(wins_by_conversation)
        for annotation in range(5)
    ]
    return play_games(table_of(rows, ("A", "B")))


class TestRankBots:
    def test_remembers_how_it_was_made(self):
        ranking = rank_bots(play_games(simulated_table(1)), confidence_level=0.9, n_resamples=50, seed=7)
        assert (ranking.confidence_level, ranking.n_resamples, ranking.seed) == (0.9, 50, 7)
        assert ranking.resample is Resample.TWO_WAY
        # Three pairs of four conversations, each annotated twice at three times, by five annotators in all.
        assert (ranking.n_clusters, ranking.n) == (5, 72)
        by_segment = rank_bots(play_games(simulated_table(1), unit=Unit.SEGMENT), n_resamples=50)
        assert (by_segment.resample, by_segment.n_clusters) == (Resample.CONVERSATION, 12)

    def test_puts_the_best_first_with_the_win_rates_of_the_counts(self):
        games = play_games(simulated_table(1, per_pair=30))
        ranking = rank_bots(games, n_resamples=200)
        means = dict(zip(games.bots, count_wins(games).mean_win_rates, strict=True))
        assert [bot.bot for bot in ranking.bots] == ["C", "B", "A"]
        for bot in ranking.bots:
            assert bot.estimate == means[bot.bot]
            assert known(bot.low) < known(bot.estimate) < known(bot.high)
        assert [(bot.rank_low, bot.rank_high, bot.cluster) for bot in ranking.bots] == [(i, i, i) for i in (1, 2, 3)]

    def test_interval_of_single_games_is_about_the_normal_one(self):
        games = _two_bots([3, 4, 2, 5, 3, 3] * 20)
        (pair,) = rank_bots(games, n_resamples=4000, resample=Resample.GAME).pairs
        # Binomial: 600 games, share 400 / 600 = 2 / 3.
        reach = 1.96 * math.sqrt(2 / 9 / 600)
        assert pair.estimate == pytest.approx(2 / 3)
        assert pair.low == pytest.approx(2 / 3 - reach, abs=0.006)
        assert pair.high == pytest.approx(2 / 3 + reach, abs=0.006)

    def test_interval_of_conversations_is_wider_where_their_games_agree(self):
        wins = np.array([5, 5, 5, 0] * 30)
        (pair,) = rank_bots(_two_bots(wins), n_resamples=4000, resample=Resample.CONVERSATION).pairs
        # All five annotations of a conversation agree: as if each of the 120 conversations were one game.
        reach = 1.96 * math.sqrt(3 / 16 / 120)
        assert pair.low == pytest.approx(0.75 - reach, abs=0.01)
        assert pair.high == pytest.approx(0.75 + reach, abs=0.01)

    def test_default_interval_adds_what_annotators_share_to_what_conversations_share(self):
        # Annotators 0 and 1 always prefer A, 2 to 4 toss a coin: their habits vary far more than conversations do.
        rng = np.random.default_rng(5)
        rows = [
            (conversation, "A", "B", 2, (2, 0) if who < 2 or rng.random() < 0.5 else (0, 2), who)
            for conversation in range(80)
            for who in range(5)
        ]
        games = play_games(table_of(rows, ("A", "B")))
        share = np.mean(games.outcome > 0)
        by_annotator = [np.mean(games.outcome[games.annotator == who] > 0) for who in range(5)]
        reach = {}
        for kind in (None, Resample.CONVERSATION, Resample.ANNOTATOR):
            (pair,) = rank_bots(games, n_resamples=4000, resample=kind).pairs
            reach[kind] = known(pair.high) - known(pair.low)
        assert reach[None] > reach[Resample.ANNOTATOR] > 2 * reach[Resample.CONVERSATION]
        # Five equal clusters: the variance of the mean of their shares, and Wilson's interval at Student's 2.776.
        effective = share * (1 - share) / (np.var(by_annotator) / 5)
        weight = 2.776**2 / effective
        wilson = 2 * 2.776 * math.sqrt(share * (1 - share) / effective + weight / 4 / effective) / (1 + weight)
        assert reach[None] == pytest.approx(wilson, rel=0.05)

    def test_a_bot_never_beaten_has_an_interval_that_knows_of_its_few_games(self):
        # Wilson's of 10 out of 10 with Student's quantile of 9 degrees (2.262): 10 / (10 + 2.262²).
        games = play_games(table_of([(i, "A", "B", 2, (2, 0), i) for i in range(10)], ("A", "B")))
        best, worst = rank_bots(games, n_resamples=50).bots
        assert best.low == pytest.approx(10 / (10 + 2.2622**2), abs=1e-4)
        assert best.high == 1.0
        assert worst.low == 0.0
        assert worst.high == pytest.approx(2.2622**2 / (10 + 2.2622**2), abs=1e-4)

    def test_games_that_join_annotations_have_wilson_s_interval_too(self):
        # Ten conversations, all won by A, one game each: as for single annotations, no certainty from ten games.
        table = table_of([(i, "A", "B", 2, (2, 0), i) for i in range(10)], ("A", "B"))
        best, _ = rank_bots(play_games(table, unit=Unit.CONVERSATION), n_resamples=50).bots
        assert best.low == pytest.approx(10 / (10 + 2.2622**2), abs=1e-4)
        assert best.high == 1.0

    def test_annotators_can_be_resampled(self):
        ranking = rank_bots(_two_bots([3, 4, 2, 5]), n_resamples=20, resample=Resample.ANNOTATOR)
        assert ranking.n_clusters == 5
        with pytest.raises(SettingOutOfRange, match="resample must be conversation or game for segments"):
            rank_bots(play_games(simulated_table(1), unit=Unit.SEGMENT), resample=Resample.ANNOTATOR)

    @pytest.mark.parametrize("setting", [{"confidence_level": 1.0}, {"confidence_level": 0.0}, {"n_resamples": 0}])
    def test_refuses_settings_out_of_range(self, setting):
        with pytest.raises(SettingOutOfRange):
            rank_bots(_two_bots([3]), **setting)

    def test_one_conversation_leaves_no_doubt_of_its_own(self):
        ranking = rank_bots(_two_bots([5]), n_resamples=20, resample=Resample.CONVERSATION)
        assert [(bot.bot, bot.low, bot.high) for bot in ranking.bots] == [("A", 1.0, 1.0), ("B", 0.0, 0.0)]

    def test_only_ties_rank_nobody(self):
        table = table_of([(i, "A", "B", 2, (1, 1), 0) for i in range(4)], ("A", "B"))
        for bot in rank_bots(play_games(table), n_resamples=20).bots:
            assert (bot.n, bot.estimate, bot.low, bot.rank_low, bot.cluster) == (0, None, None, None, None)

    def test_bot_without_games_stands_last_and_takes_no_rank(self):
        table = table_of([(i, "A", "B", 2, (2, 0), 0) for i in range(4)], ("Z", "A", "B"))
        ranking = rank_bots(play_games(table), n_resamples=20)
        assert [bot.bot for bot in ranking.bots] == ["A", "B", "Z"]
        assert [bot.rank_high for bot in ranking.bots] == [1, 2, None]

    @pytest.mark.parametrize("names", [(), ("A",)])
    @pytest.mark.parametrize("resample", Resample)
    def test_fewer_than_two_bots_make_an_empty_ranking(self, names, resample):
        ranking = rank_bots(play_games(table_of([], names)), n_resamples=20, resample=resample)
        assert [bot.estimate for bot in ranking.bots] == [None] * len(names)
        assert ranking.pairs == ()

    @settings(max_examples=25, deadline=None)
    @given(seed=seeds, resample=st.sampled_from(Resample))
    def test_row_order_changes_nothing(self, seed, resample):
        table = simulated_table(seed, annotations=1)
        ranking, again = (
            rank_bots(play_games(t), n_resamples=40, resample=resample) for t in (table, shuffled(table, seed))
        )
        assert ranking == again

    @settings(max_examples=25, deadline=None)
    @given(seed=seeds)
    def test_order_of_names_changes_nothing(self, seed):
        table = simulated_table(seed, names=("A", "B", "C", "D"), annotations=1)
        ranking, again = (rank_bots(play_games(t), n_resamples=40) for t in (table, renamed(table, seed)))
        for bot, same in zip(ranking.bots, again.bots, strict=True):
            assert (bot.bot, bot.rank_low, bot.rank_high, bot.cluster) == (
                same.bot,
                same.rank_low,
                same.rank_high,
                same.cluster,
            )
            assert (bot.estimate, bot.low, bot.high) == pytest.approx((same.estimate, same.low, same.high), abs=1e-12)


class TestRankRanges:
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
