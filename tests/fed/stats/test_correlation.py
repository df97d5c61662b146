"""Correlations with ratings against scipy, definitions and simulated truths."""

import math
from typing import Any

import numpy as np
import pytest
import scipy

from spotthebot.fed.stats.correlation import (
    CorrelationKind,
    beside_length,
    correlation,
    lead_over_length,
    partial_rank_correlation,
)
from spotthebot.fed.stats.samples import MAX_GROUPS, annotator_ratings, dialogue_codes, few_groups
from spotthebot.statistics.errors import ColumnMalformed, ColumnsDiffer, KindUnknown, LevelOutOfRange
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
    @pytest.mark.parametrize("kind", ["nonsense", None, ["pearson"]])
    def test_refuses_an_unknown_kind(self, kind: Any):
        with pytest.raises(KindUnknown, match="spearman, kendall, pearson"):
            correlation([1, 2, 3], [1, 2, 3], kind=kind)

    @pytest.mark.parametrize("kind", CorrelationKind)
    def test_is_scipy_s(self, columns, kind):
        scores, ratings, _, _ = columns
        found, expected = correlation(scores, ratings, kind=kind), ALL_KINDS[kind](scores, ratings)
        assert (found.estimate, found.p_value) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-9)
        assert (found.n, found.n_dialogues) == (40, 40)

    @pytest.mark.parametrize("kind", CorrelationKind)
    @pytest.mark.parametrize("units", [(1e-300, 1.0), (1.0, 1e-300), (1e-12, 1e12), (1e307, 1e307)])
    def test_does_not_depend_on_the_units_of_its_sides(self, columns, kind, units):
        scores, ratings, _, dialogue = columns
        for of in (None, dialogue):
            found = correlation(scores, ratings, dialogue=of, kind=kind)
            moved = correlation(scores * units[0], ratings * units[1], dialogue=of, kind=kind)
            figures = [(each.estimate, each.low, each.high, each.p_value) for each in (found, moved)]
            assert figures[1] == pytest.approx(figures[0], rel=1e-6)

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
            assert found.estimate is None
            assert found.low is None
            assert found.high is None
            assert found.p_value is None
            assert found.reason == reason

    @pytest.mark.parametrize(
        ("scores", "ratings", "dialogue", "reason"),
        [
            ([1, 2, 3, 4], [1, 2, 3, 4], None, "every rank is the other's"),
            ([1, 2, 3, 4], [1, 3, 2, 4], [0, 0, 1, 1], "fewer than 5 different dialogues"),
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


@pytest.fixture(scope="module")
def shared() -> tuple[Any, ...]:
    """24 items in 8 dialogues, each rated by one to three of 12 annotators who differ: `table` has their ratings."""
    chance = np.random.default_rng(8)
    mood = np.repeat(chance.normal(size=8), 3)
    scores, lengths = mood + 0.5 * chance.normal(size=24), chance.normal(size=24)
    mood = 0.5 * mood + np.repeat(chance.normal(size=8), 3)
    table = np.full((24, 12), NAN)
    for item in range(24):
        who = chance.permutation(12)[: 1 + item % 3]
        table[item, who] = np.round(mood[item] + who / 6 + chance.normal(0, 0.2, len(who)), 1)
    return scores, table, lengths, np.arange(24) // 3


def ratings_of(table):
    item, who = np.nonzero(~np.isnan(table))
    return annotator_ratings(item, [f"w{each}" for each in who], table[item, who], n_items=len(table))


class TestSharedAnnotators:
    @pytest.mark.parametrize("kind", [CorrelationKind.SPEARMAN, CorrelationKind.KENDALL])
    def test_an_interval_leaves_out_dialogues_and_annotators_less_what_they_share(self, shared, kind):
        """Written out from the table, by Cameron, Gelbach & Miller 2011, Eq. 2.11, and Satterthwaite's degrees."""
        scores, table, _, dialogue = shared

        def z_without(left_out):
            """Return z without ratings; an item that has none is gone, and equal means are tied."""
            kept = np.where(left_out, NAN, table)
            known = ~np.isnan(kept).all(axis=1)
            return np.arctanh(ALL_KINDS[kind](scores[known], np.round(np.nanmean(kept[known], axis=1), 9)).statistic)

        rows, columns = np.broadcast_to(dialogue[:, None], table.shape), np.broadcast_to(np.arange(12), table.shape)
        rated = {(rows[at], columns[at]) for at in zip(*np.nonzero(~np.isnan(table)), strict=True)}
        parts = [
            jackknife_variance([z_without(rows == out) for out in range(8)]),
            jackknife_variance([z_without(columns == out) for out in range(12)]),
            jackknife_variance([z_without((rows == row) & (columns == column)) for row, column in rated]),
        ]
        variance = parts[0] + parts[1] - parts[2]
        assert variance > max(parts)  # which it is never taken below
        counts = np.sum(~np.isnan(table), axis=0)
        degrees = variance**2 / (parts[0] ** 2 / 7 + parts[1] ** 2 / (counts.sum() ** 2 / np.sum(counts**2) - 1))
        found = correlation(scores, ratings_of(table), dialogue=dialogue, kind=kind)
        z = z_without(np.zeros_like(rows, dtype=bool))
        reach = scipy.stats.t.ppf(0.975, degrees) * math.sqrt(variance)
        assert (found.low, found.high) == pytest.approx((np.tanh(z - reach), np.tanh(z + reach)))
        assert found.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(z) / math.sqrt(variance), degrees))
        assert found.degrees_of_freedom == pytest.approx(degrees)
        assert (found.n, found.n_dialogues, found.n_annotators) == (24, 8, 12)

    def test_all_coefficients_at_once_are_those_one_by_one(self, shared):
        scores, table, lengths, dialogue = shared
        ratings = ratings_of(table)
        found = beside_length(scores, ratings, lengths, dialogue=dialogue)
        assert found.spearman == correlation(scores, ratings, dialogue=dialogue)
        assert found.kendall == correlation(scores, ratings, dialogue=dialogue, kind=CorrelationKind.KENDALL)
        assert found.length == correlation(lengths, ratings, dialogue=dialogue)
        assert found.given_length == partial_rank_correlation(scores, ratings, lengths, dialogue=dialogue)
        assert found.lead == lead_over_length(scores, ratings, lengths, dialogue=dialogue)

    def test_few_annotators_have_no_interval_and_no_p_but_the_exact_one(self, shared):
        """With nine annotators; exact p of eight systems counts orders, which needs nothing of annotators."""
        scores, table, _, dialogue = shared
        few = correlation(scores, ratings_of(table[:, :9]), dialogue=dialogue)
        assert few.estimate is not None
        assert few.low is None
        assert few.high is None
        assert few.p_value is None
        assert few.degrees_of_freedom is None
        assert few.reason == "an interval for other annotators needs at least 10 annotators, not 9"
        systems = correlation(scores[:8], np.nanmean(table[:8], axis=1))
        assert correlation(scores[:8], ratings_of(table[:8, :9])).p_value is not None
        assert correlation(scores[:8], ratings_of(table[:8])).p_value == systems.p_value

    def test_more_than_twelve_items_that_share_annotators_have_the_p_of_the_interval(self, shared):
        scores, table, _, _ = shared
        found = correlation(scores, ratings_of(table))
        at = (np.arctanh(known(found.low)) + np.arctanh(known(found.high))) / 2
        error = (np.arctanh(known(found.high)) - at) / scipy.stats.t.ppf(0.975, known(found.degrees_of_freedom))
        assert found.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(at) / error, known(found.degrees_of_freedom)))

    def test_many_ratings_are_left_out_in_groups_that_give_about_the_same(self):
        """500 pairs of a dialogue and an annotator, 200 groups of them: the interval is that of 500 within a tenth."""
        chance = np.random.default_rng(4)
        item, who = np.repeat(np.arange(100), 5), np.concatenate([chance.permutation(30)[:5] for _ in range(100)])
        scores = chance.normal(size=100)
        ratings = scores[item] + chance.normal(size=30)[who] + chance.normal(size=500)
        table = np.full((100, 30), NAN)
        table[item, who] = ratings
        grouped = correlation(scores, ratings_of(table))
        shared = [
            np.arctanh(scipy.stats.spearmanr(scores, np.nanmean(kept, axis=1)).statistic)
            for at in zip(item, who, strict=True)
            for kept in [np.where(np.arange(3000).reshape(100, 30) == at[0] * 30 + at[1], NAN, table)]
        ]
        parts = [
            jackknife_variance([z_of(np.delete(scores, out), np.delete(table, out, axis=0)) for out in range(100)]),
            jackknife_variance([z_of(scores, np.delete(table, out, axis=1)) for out in range(30)]),
            jackknife_variance(shared),
        ]
        variance = max(parts[0] + parts[1] - parts[2], parts[0], parts[1])
        width = np.arctanh(known(grouped.high)) - np.arctanh(known(grouped.low))
        reach = 2 * scipy.stats.t.ppf(0.975, known(grouped.degrees_of_freedom)) * math.sqrt(variance)
        assert width == pytest.approx(reach, rel=0.1)


def z_of(scores, table):
    known = ~np.isnan(table).all(axis=1)
    return np.arctanh(scipy.stats.spearmanr(scores[known], np.nanmean(table[known], axis=1)).statistic)


def jackknife_variance(values):
    return (len(values) - 1) / len(values) * sum((value - np.mean(values)) ** 2 for value in values)


class TestGroups:
    def test_are_dialogues_by_their_first_item(self):
        assert dialogue_codes(["z", "a", "z", "b"], 4).tolist() == [0, 1, 0, 2]
        assert dialogue_codes(None, 3).tolist() == [0, 1, 2]
        assert dialogue_codes([], 0).tolist() == []

    def test_join_many_dialogues_evenly(self):
        assert few_groups(np.arange(MAX_GROUPS)).tolist() == [*range(MAX_GROUPS)]
        sizes = np.bincount(few_groups(np.arange(5 * MAX_GROUPS + 3)))
        assert (len(sizes), sizes.min(), sizes.max()) == (MAX_GROUPS, 5, 6)


@pytest.mark.parametrize("missing", [None, NAN])
def test_no_annotator_is_no_annotator_of_their_own(missing):
    with pytest.raises(ColumnMalformed, match="Column annotator, row 1"):
        annotator_ratings([0, 0, 1], ["ann", missing, "ann"], [1, 2, 3], n_items=2)
