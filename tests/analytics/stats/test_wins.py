from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.analytics.stats.errors import CriterionUnknown
from spotthebot.analytics.stats.wins import PairCounts, SsaRule, Unit, Weighting, count_wins, play_games
from tests.analytics.stats.annotation_tables import renamed, shuffled, simulated_table, table_of

seeds = st.integers(0, 10_000)


def _counts(rows, names=("A", "B"), **options):
    return count_wins(play_games(table_of(rows, names), **options))


class TestPlayGames:
    def test_human_beats_unsure_beats_bot(self):
        labels = [(2, 1), (2, 0), (1, 0), (1, 1), (0, 2)]
        counts = _counts([(i, "A", "B", 2, pair, 0) for i, pair in enumerate(labels)])
        assert counts.wins.tolist() == [[0, 3], [1, 0]]
        assert counts.ties.tolist() == [[0, 1], [1, 0]]

    def test_segment_adds_up_the_scores_of_its_annotations(self):
        # (2, 0) and (0, 1): 2 against 1. One annotation each way, but A's win is the clearer one.
        rows = [(0, "A", "B", 2, (2, 0), 0), (0, "A", "B", 2, (0, 1), 1)]
        assert _counts(rows, unit=Unit.SEGMENT).wins.tolist() == [[0, 1], [0, 0]]
        assert _counts(rows, unit=Unit.ANNOTATION).wins.tolist() == [[0, 1], [1, 0]]

    def test_conversation_weighs_a_segment_by_its_exchanges(self):
        # A wins the segments of 2 and 3 exchanges, B that of 5: 5 to 5 is a tie; without the shortest B wins.
        rows = [(0, "A", "B", 2, (2, 0), 0), (0, "A", "B", 3, (2, 0), 0), (0, "A", "B", 5, (0, 2), 0)]
        assert _counts(rows, unit=Unit.CONVERSATION).ties.tolist() == [[0, 1], [1, 0]]
        assert _counts(rows[1:], unit=Unit.CONVERSATION).wins.tolist() == [[0, 0], [1, 0]]

    @pytest.mark.parametrize(
        ("weighting", "outcome"),
        [(Weighting.LOG_TURNS, 0), (Weighting.LOG_EXCHANGES, -1), (Weighting.EXCHANGES, -1)],
    )
    def test_the_draft_s_turns_are_two_an_exchange(self, weighting: Weighting, outcome: int):
        # A wins after one and two exchanges, B after four: log 2 + log 4 = log 8, but log 1 + log 2 < log 4, 1 + 2 < 4.
        rows = [(0, "A", "B", n, (2, 0) if n < 4 else (0, 2), 0) for n in (1, 2, 4)]
        games = play_games(table_of(rows, ("A", "B")), unit=Unit.CONVERSATION, weighting=weighting)
        assert games.outcome.tolist() == [outcome]

    def test_the_draft_s_first_exchange_counts_nothing_unless_turns_are_counted(self):
        rows = [(0, "A", "B", n, (2, 0) if n == 1 else (1, 1), 0) for n in (1, 2)]
        found = [
            play_games(table_of(rows, ("A", "B")), unit=Unit.CONVERSATION, weighting=each).outcome.tolist()
            for each in (Weighting.LOG_EXCHANGES, Weighting.LOG_TURNS)
        ]
        assert found == [[0], [1]]

    @pytest.mark.parametrize("weighting", [Weighting.LOG_EXCHANGES, Weighting.LOG_TURNS])
    @pytest.mark.parametrize(
        ("margins", "by_majority", "by_points"),
        [((1, 1, 1, -2, -2), 1, -1), ((1, 1, -2), 1, 0), ((2, -1), 1, 1), ((2, 2, -2, -2), 0, 0), ((1, 0, 0), 1, 1)],
    )
    @pytest.mark.parametrize("sign", [1, -1])
    def test_the_draft_s_segment_goes_to_who_won_more_annotations_and_then_to_the_better_labels(
        self, weighting: Weighting, margins: tuple[int, ...], by_majority: int, by_points: int, sign: int
    ):
        labels = {1: (1, 0), -1: (0, 1), 2: (2, 0), -2: (0, 2), 0: (1, 1)}
        rows = [(0, "A", "B", 3, labels[sign * margin], who) for who, margin in enumerate(margins)]
        found = [
            play_games(table_of(rows, ("A", "B")), unit=Unit.CONVERSATION, weighting=each).outcome.tolist()
            for each in (weighting, Weighting.EXCHANGES)
        ]
        assert found == [[sign * by_majority], [sign * by_points]]

    def test_sensibleness_and_specificity_are_both_needed_unless_the_second_s_is_as_published(self):
        flags = [*product((0, 1), repeat=4)]  # sensible first and second, specific first and second
        rows = [(number, "A", "B", 2, (0, 0), 0) for number in range(len(flags))]
        features = {
            "sensibleness": [[flag[0], flag[1]] for flag in flags],
            "specificity": [[flag[2], flag[3]] for flag in flags],
        }
        table = table_of(rows, ("A", "B"), features=features)
        found = [play_games(table, criterion="ssa", ssa_rule=rule).outcome.tolist() for rule in SsaRule]
        won = [flag == (1, 0, 1, 0) for flag in flags]
        lost = [flag == (0, 1, 0, 1) for flag in flags]
        as_published = [flag[2:] == (0, 1) and flag[1] == 1 for flag in flags]
        both, published = ([int(a) - int(b) for a, b in zip(won, each, strict=True)] for each in (lost, as_published))
        assert dict(zip(SsaRule, found, strict=True)) == {SsaRule.BOTH: both, SsaRule.PUBLISHED: published}

    def test_leaves_out_humans_and_self_play(self):
        rows = [(0, "HU", "HU", 2, (2, 0), 0), (1, "A", "A", 2, (2, 0), 0), (2, "B", "A", 2, (2, 0), 0)]
        counts = _counts(rows, names=("A", "HU", "B"))
        assert counts.bots == ("A", "B")
        assert counts.wins.tolist() == [[0, 0], [1, 0]]
        assert counts.n == 1

    def test_compares_a_feature_when_asked(self):
        rows = [(0, "A", "B", 2, (2, 0), 0), (1, "A", "B", 2, (2, 0), 0)]
        table = table_of(rows, ("A", "B"), features={"fluency": [[0, 1], [1, 1]]})
        counts = count_wins(play_games(table, criterion="fluency"))
        assert counts.wins.tolist() == [[0, 0], [1, 0]]
        assert counts.n == 2

    @pytest.mark.parametrize("criterion", ["charm", "ssa"])
    def test_refuses_a_criterion_that_no_annotation_carries(self, criterion):
        with pytest.raises(
            CriterionUnknown, match=f"'{criterion}' is not a criterion of these annotations: there are human"
        ):
            play_games(table_of([(0, "A", "B", 2, (2, 0), 0)], ("A", "B")), criterion=criterion)

    def test_refuses_a_criterion_that_no_annotation_carries_beside_sensibleness_and_specificity(self):
        features = {"sensibleness": [[1, 0]], "specificity": [[1, 0]]}
        with pytest.raises(
            CriterionUnknown,
            match="'charm' is not a criterion of these annotations: there are human, sensibleness, specificity",
        ):
            play_games(table_of([(0, "A", "B", 2, (2, 0), 0)], ("A", "B"), features=features), criterion="charm")

    @given(seed=seeds, unit=st.sampled_from(Unit))
    def test_row_order_changes_nothing(self, seed, unit):
        table = simulated_table(seed)
        games, again = (play_games(t, unit=unit) for t in (table, shuffled(table, seed)))
        for column in ("first", "second", "outcome", "conversation", "annotator"):
            assert getattr(games, column).tolist() == getattr(again, column).tolist()

    @given(seed=seeds, unit=st.sampled_from(Unit))
    def test_order_of_names_changes_only_the_order_of_the_counts(self, seed, unit):
        table = simulated_table(seed, names=("A", "HU", "B", "C"))
        counts, again = (count_wins(play_games(t, unit=unit)) for t in (table, renamed(table, seed)))
        order = [again.bots.index(bot) for bot in counts.bots]
        assert again.wins[np.ix_(order, order)].tolist() == counts.wins.tolist()
        assert again.ties[np.ix_(order, order)].tolist() == counts.ties.tolist()


class TestPairCounts:
    def test_rate_is_wins_over_decided_games(self):
        # Eq. 1: 3 wins, 1 loss and a tie make 3 / 4; C met nobody.
        labels = [(2, 1), (2, 0), (1, 0), (1, 1), (0, 2)]
        counts = _counts([(i, "A", "B", 2, pair, 0) for i, pair in enumerate(labels)], names=("A", "B", "C"))
        assert counts.win_rates[0, 1] == 0.75
        assert counts.win_rates[1, 0] == 0.25
        assert np.isnan(counts.win_rates[[0, 2, 2], [0, 0, 1]]).all()
        assert counts.mean_win_rates[:2].tolist() == [0.75, 0.25]
        assert np.isnan(counts.mean_win_rates[2])
        assert counts.tie_rate == 0.2
        assert [pair.estimate for pair in counts.pairs()] == [0.75, None, None]

    def test_rate_of_the_early_draft_is_wins_over_all_games(self):
        # A won two of four, B one, and one was a tie; C met nobody.
        counts = PairCounts(
            bots=("A", "B", "C"),
            wins=np.array([[0, 2, 0], [1, 0, 0], [0, 0, 0]]),
            ties=np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
        )
        nan = float("nan")
        expected = [[nan, 2 / 4, nan], [1 / 4, nan, nan], [nan, nan, nan]]
        assert np.array_equal(counts.win_rates_with_ties, expected, equal_nan=True)
        assert counts.tie_rate == 1 / 4

    def test_only_ties_leave_no_rate(self):
        counts = _counts([(0, "A", "B", 2, (1, 1), 0)])
        assert counts.tie_rate == 1
        assert np.isnan(counts.win_rates).all()
        assert counts.pairs()[0].estimate is None

    @pytest.mark.parametrize("names", [(), ("A",), ("HU",), ("A", "B")])
    @pytest.mark.parametrize("unit", Unit)
    def test_no_annotations_leave_no_games(self, names, unit):
        counts = _counts([], names=names, unit=unit)
        assert counts.n == 0
        assert np.isnan(counts.tie_rate)
        assert np.isnan(counts.mean_win_rates).all()

    @given(seed=seeds)
    def test_wins_losses_and_ties_are_all_the_games(self, seed):
        table = simulated_table(seed)
        counts = count_wins(play_games(table))
        assert counts.n == len(table)
        assert sum(pair.wins + pair.losses + pair.ties for pair in counts.pairs()) == len(table)
