"""Correlations with ratings against scipy, definitions and simulated truths."""

import math
from typing import Any

import numpy as np
import pytest
import scipy

from spotthebot.fed.stats.correlation import (
    CorrelationKind,
    correlation,
    lead_over_length,
    partial_rank_correlation,
)
from spotthebot.fed.stats.jackknife import MAX_GROUPS, dialogue_groups, jackknife_error
from spotthebot.statistics.errors import ColumnsDiffer, LevelOutOfRange
from tests.factories.known import known

NAN = math.nan
ALL_KINDS: dict[CorrelationKind, Any] = {
    CorrelationKind.SPEARMAN: scipy.stats.spearmanr,
    CorrelationKind.KENDALL: scipy.stats.kendalltau,
    CorrelationKind.PEARSON: scipy.stats.pearsonr,
}


@pytest.fixture(scope="module")
def columns() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scores that follow length, ratings with ties, lengths, and dialogues of two items each."""
    chance = np.random.default_rng(3)
    lengths = chance.integers(50, 900, 40).astype(float)
    scores = -200 / lengths + chance.normal(0, 0.5, 40)
    ratings = np.round(np.clip(scores + lengths / 900 + chance.normal(0, 0.5, 40), -1, 1), 1)
    return scores, ratings, lengths, np.arange(40) // 2


class TestCorrelation:
    @pytest.mark.parametrize("kind", CorrelationKind)
    def test_is_scipy_s(self, columns, kind):
        scores, ratings, _, _ = columns
        found, expected = correlation(scores, ratings, kind=kind), ALL_KINDS[kind](scores, ratings)
        assert (found.estimate, found.p_value) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-9)
        assert (found.n, found.n_dialogues) == (40, 40)

    @pytest.mark.parametrize("kind", CorrelationKind)
    def test_has_the_interval_of_fisher_s_z_and_dialogues_left_out(self, columns, kind):
        """Written out: z of the 20 samples without one dialogue, their jackknife variance, t of 19 degrees."""
        scores, ratings, _, dialogue = columns
        found = correlation(scores, ratings, dialogue=dialogue, kind=kind, confidence_level=0.9)
        values = [
            np.arctanh(ALL_KINDS[kind](scores[dialogue != out], ratings[dialogue != out]).statistic)
            for out in range(20)
        ]
        error = math.sqrt(19 / 20 * sum((value - np.mean(values)) ** 2 for value in values))
        z = np.arctanh(ALL_KINDS[kind](scores, ratings).statistic)
        reach = scipy.stats.t.ppf(0.95, 19) * error
        assert (found.low, found.high) == pytest.approx((np.tanh(z - reach), np.tanh(z + reach)))
        assert found.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(z) / error, 19))
        assert (found.n, found.n_dialogues, found.confidence_level) == (40, 20, 0.9)

    def test_leaves_out_items_that_nobody_rated(self, columns):
        scores, ratings, _, dialogue = columns
        gaps = ratings.copy()
        gaps[[0, 1, 5]] = NAN
        kept = ~np.isnan(gaps)
        assert correlation(scores, gaps, dialogue=dialogue) == correlation(
            scores[kept], ratings[kept], dialogue=dialogue[kept]
        )
        assert correlation(scores, gaps, dialogue=dialogue).n_dialogues == 19

    def test_does_not_depend_on_the_order_of_items_or_the_names_of_dialogues(self, columns):
        scores, ratings, _, dialogue = columns
        order = np.random.default_rng(1).permutation(40)
        names = [f"d{40 - each}" for each in dialogue]
        one = correlation(scores, ratings, dialogue=dialogue)
        other = correlation(scores[order], ratings[order], dialogue=[names[at] for at in order])
        assert (one.estimate, one.low, one.high) == pytest.approx((other.estimate, other.low, other.high))

    @pytest.mark.parametrize(
        ("scores", "ratings", "reason"),
        [
            ([1, 2], [1, 2], "fewer than three pairs"),
            ([1, 2, NAN, 3], [1, 2, 3, NAN], "fewer than three pairs"),
            ([1, 1, 1, 1], [1, 2, 3, 4], "one side does not vary"),
            ([1, 2, 3, 4], [2, 2, 2, 2], "one side does not vary"),
        ],
    )
    def test_says_why_there_is_none(self, scores, ratings, reason):
        for kind in CorrelationKind:
            found = correlation(scores, ratings, kind=kind)
            assert (found.estimate, found.low, found.high, found.p_value, found.reason) == (*[None] * 4, reason)

    @pytest.mark.parametrize(
        ("scores", "ratings", "dialogue", "reason"),
        [
            ([1, 2, 3, 4], [1, 2, 3, 4], None, "every rank is the other's"),
            ([1, 2, 3, 4], [1, 3, 2, 4], [0, 0, 1, 1], "fewer than three dialogues"),
            ([1, 1, 1, 2], [1, 3, 2, 4], None, "one that all hangs on"),
        ],
    )
    def test_says_why_there_is_no_interval(self, scores, ratings, dialogue, reason):
        found = correlation(scores, ratings, dialogue=dialogue)
        assert found.estimate is not None
        assert (found.low, found.high) == (None, None)
        assert reason in str(found.reason)

    def test_refuses_columns_that_do_not_fit_and_levels_that_are_none(self):
        for wrong in ([1, 2], [[1, 2, 3]]):
            with pytest.raises(ColumnsDiffer):
                correlation([1, 2, 3], wrong)
            with pytest.raises(ColumnsDiffer):
                correlation([1, 2, 3], [1, 2, 3], dialogue=wrong)
        for level in (0, 1):
            with pytest.raises(LevelOutOfRange):
                correlation([1, 2, 3], [1, 3, 2], confidence_level=level)


class TestGivenLength:
    def test_is_the_correlation_of_what_length_leaves_of_the_ranks(self, columns):
        scores, ratings, lengths, dialogue = columns
        found = partial_rank_correlation(scores, ratings, lengths, dialogue=dialogue)
        ranks = [scipy.stats.rankdata(each) for each in (scores, ratings, lengths)]
        design = np.column_stack([np.ones(40), ranks[2]])
        left = [each - design @ np.linalg.lstsq(design, each, rcond=None)[0] for each in ranks[:2]]
        assert found.estimate == pytest.approx(scipy.stats.pearsonr(*left).statistic, abs=1e-12)
        assert known(found.low) < known(found.estimate) < known(found.high)
        assert found.p_value is not None

    def test_is_none_where_length_says_all(self):
        found = partial_rank_correlation([1, 2, 3, 4], [1, 3, 2, 4], [10, 20, 30, 40])
        assert (found.estimate, found.reason) == (None, "length says all of one side")

    def test_leads_by_the_difference_of_both(self, columns):
        scores, ratings, lengths, dialogue = columns
        found = lead_over_length(scores, ratings, lengths, dialogue=dialogue)
        one, other = (scipy.stats.spearmanr(each, ratings).statistic for each in (scores, lengths))
        assert found.estimate == pytest.approx(one - other)
        error = (known(found.high) - known(found.low)) / 2 / scipy.stats.t.ppf(0.975, 19)
        values = [
            scipy.stats.spearmanr(scores[dialogue != out], ratings[dialogue != out]).statistic
            - scipy.stats.spearmanr(lengths[dialogue != out], ratings[dialogue != out]).statistic
            for out in range(20)
        ]
        assert error == pytest.approx(math.sqrt(19 / 20 * sum((value - np.mean(values)) ** 2 for value in values)))
        assert (known(found.low) + known(found.high)) / 2 == pytest.approx(found.estimate)

    def test_leads_by_2_at_most(self):
        found = lead_over_length([1, 2, 3, 5, 4], [1, 2, 4, 3, 5], [5, 4, 2, 1, 3])
        assert known(found.high) == 2.0


class TestGroups:
    def test_are_dialogues_by_their_first_item(self):
        assert dialogue_groups(["z", "a", "z", "b"], 4).tolist() == [0, 1, 0, 2]
        assert dialogue_groups(None, 3).tolist() == [0, 1, 2]
        assert dialogue_groups([], 0).tolist() == []

    def test_join_many_dialogues_evenly(self):
        assert dialogue_groups(None, MAX_GROUPS).tolist() == [*range(MAX_GROUPS)]
        sizes = np.bincount(dialogue_groups(None, 5 * MAX_GROUPS + 3))
        assert (len(sizes), sizes.min(), sizes.max()) == (MAX_GROUPS, 5, 6)

    def test_have_no_error_with_fewer_than_three(self):
        error, n = jackknife_error(lambda kept: float(kept.sum()), np.array([0, 0, 1]))
        assert (math.isnan(error), n) == (True, 2)
