import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_kappa

from spotthebot.analytics.stats import (
    Measurement,
    SettingOutOfRange,
    fleiss_kappa,
    krippendorff_alpha,
    label_agreement,
    label_alpha,
)
from spotthebot.analytics.stats.bca import bca_interval, bootstrap_clusters
from tests.factories.annotation_tables import renamed, shuffled, simulated_table, table_of
from tests.factories.known import known
from tests.factories.published_dump import reference

LEVELS = [Measurement.NOMINAL, Measurement.ORDINAL, Measurement.INTERVAL, Measurement.RATIO]


def _columns(ratings):
    """Turn an (observers, units) matrix with None for missing into unit and value columns."""
    found = [(unit, value) for row in ratings for unit, value in enumerate(row) if value is not None]
    units, values = zip(*found, strict=True) if found else ((), ())
    return np.array(units, dtype=np.int64), np.array(values, dtype=np.float64)


def _share(sums):
    return sums[:, 0] / sums[:, 1]


class TestBcaInterval:
    def test_is_scipy_s_on_the_same_replicates(self):
        rng = np.random.default_rng(3)
        data = rng.exponential(size=40)
        expected = scipy_stats.bootstrap((data,), np.mean, method="BCa", n_resamples=999, rng=np.random.default_rng(4))
        left_out = (data.sum() - data) / 39
        low, high = bca_interval(expected.bootstrap_distribution, data.mean(), left_out, 0.95)
        assert (low, high) == pytest.approx(tuple(expected.confidence_interval), abs=1e-3)

    def test_replicates_on_one_side_give_no_bounds(self):
        assert all(np.isnan(bca_interval(np.full(50, 2.0), 1.0, np.arange(5.0), 0.95)))

    def test_few_kinds_of_clusters_are_drawn_as_counts_with_the_same_spread(self):
        # 300 clusters of two kinds, and the same made distinct by a third column that the statistic ignores.
        kinds = np.repeat([[1.0, 1.0], [0.0, 1.0]], [90, 210], axis=0)
        distinct = np.column_stack([kinds, np.arange(300.0)])
        few, many = (
            bootstrap_clusters(each, _share, confidence_level=0.95, n_resamples=8000, seed=1)
            for each in (kinds, distinct)
        )
        assert (few.low, few.high) == pytest.approx((many.low, many.high), abs=0.006)
        assert few.n_clusters == many.n_clusters == 300


class TestKrippendorffAlpha:
    @pytest.mark.parametrize("level", LEVELS)
    def test_is_krippendorff_s_canonical_example(self, level):
        example = reference("statistics/worked_examples.json")["krippendorff_canonical"]
        unit, value = _columns(example["ratings"])
        assert krippendorff_alpha(unit, value, level=level).estimate == pytest.approx(example[level], abs=1e-12)

    @settings(max_examples=40, deadline=None)
    @given(
        ratings=st.lists(st.lists(st.sampled_from([None, 1, 2, 3, 5]), min_size=6, max_size=6), min_size=2, max_size=4),
        level=st.sampled_from(LEVELS),
    )
    def test_is_the_package_s(self, ratings, level):
        unit, value = _columns(ratings)
        ours = krippendorff_alpha(unit, value, level=level, n_resamples=1).estimate
        try:
            data = np.array([[np.nan if value is None else value for value in row] for row in ratings], dtype=float)
            with np.errstate(all="ignore"):
                expected = krippendorff.alpha(reliability_data=data, level_of_measurement=level.value)
        except (ValueError, AssertionError):
            expected = np.nan
        if np.isnan(expected):
            assert ours is None
        elif ours is None:
            # The package calls values that never meet another one perfect agreement.
            assert len({value for at, value in zip(unit, value, strict=True) if np.sum(unit == at) > 1}) < 2
        else:
            assert ours == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize(
        ("unit", "value", "reason"),
        [
            ([], [], "no unit has two values"),
            ([0, 1], [1, 2], "no unit has two values"),
            ([0, 0, 1, 1], [2, 2, 2, 2], "all values are the same"),
        ],
    )
    def test_says_why_it_is_undefined(self, unit, value, reason):
        alpha = krippendorff_alpha(unit, value)
        assert (alpha.estimate, alpha.low, alpha.reason) == (None, None, reason)

    def test_counts_replicates_without_variation(self):
        # Nine units agree on 1, one disagrees: (9 / 10)^10 of the replicates, 35 %, have nothing but ones.
        alpha = krippendorff_alpha(np.repeat(range(10), 2), [1] * 19 + [2], n_resamples=2000)
        assert alpha.n_undefined / 2000 == pytest.approx(0.9**10, abs=0.05)

    def test_refuses_a_unit_in_two_clusters_and_columns_of_two_lengths(self):
        with pytest.raises(SettingOutOfRange, match="cluster must be the same for all values of a unit"):
            krippendorff_alpha([0, 0], [1, 2], cluster=[0, 1])
        with pytest.raises(SettingOutOfRange, match="columns of one length"):
            krippendorff_alpha([0, 0], [1, 2, 3])


class TestFleissKappa:
    def test_is_statsmodels_on_fleiss_s_own_table(self):
        # Fleiss 1971, table 1: 30 patients, six psychiatrists, five diagnoses; kappa is printed as .430.
        table = np.array(
            [[0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0], [2, 0, 4, 0, 0],
             [0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6], [1, 0, 0, 5, 0], [1, 1, 0, 4, 0],
             [0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1], [0, 0, 5, 0, 1], [3, 0, 0, 1, 2], [5, 1, 0, 0, 0],
             [0, 2, 0, 4, 0], [1, 0, 2, 0, 3], [0, 0, 0, 0, 6], [0, 1, 0, 5, 0], [0, 2, 0, 1, 3], [2, 0, 0, 4, 0],
             [1, 0, 0, 4, 1], [0, 5, 0, 1, 0], [4, 0, 0, 0, 2], [0, 2, 0, 4, 0], [1, 0, 5, 0, 0], [0, 0, 0, 0, 6]]
        )  # fmt: skip
        unit = np.repeat(np.arange(30), 6)
        category = np.concatenate([np.repeat(np.arange(5), row) for row in table])
        kappa = fleiss_kappa(unit, category)
        assert kappa.estimate == pytest.approx(statsmodels_kappa(table), abs=1e-12)
        assert f"{kappa.estimate:.3f}" == "0.430"
        assert known(kappa.low) < known(kappa.estimate) < known(kappa.high)

    def test_takes_the_commonest_number_of_ratings_and_says_what_it_leaves_out(self):
        kappa = fleiss_kappa([0, 0, 1, 1, 2, 2, 3, 3, 3, 4], [1, 1, 2, 2, 1, 2, 1, 1, 1, 2])
        assert (kappa.ratings, kappa.n, kappa.n_left_out) == (2, 3, 2)
        assert kappa.estimate == pytest.approx(1 / 3)

    @pytest.mark.parametrize(
        ("category", "reason"), [([], "no unit has two ratings"), ([1, 1, 1, 1], "all ratings are the same")]
    )
    def test_says_why_it_is_undefined(self, category, reason):
        kappa = fleiss_kappa(np.arange(len(category)) // 2, category)
        assert (kappa.estimate, kappa.reason) == (None, reason)


class TestLabelAgreement:
    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 1000))
    def test_the_order_of_rows_and_names_changes_nothing(self, seed):
        table = simulated_table(seed)
        one, rows, names = (
            {(each.bot, each.label): (each.agree, each.n, each.low, each.high) for each in label_agreement(t)}
            for t in (table, shuffled(table, seed), renamed(table, seed))
        )
        assert one == rows == names


class TestLabelAlpha:
    def test_is_the_package_s_ordinal_alpha_of_both_sides(self):
        table = simulated_table(2)
        segments = sorted(set(zip(table.conversation.tolist(), table.exchanges.tolist(), strict=True)))
        data = np.full((2, 2 * len(segments)), np.nan)
        for at, (conversation, exchanges) in enumerate(segments):
            rows = np.flatnonzero((table.conversation == conversation) & (table.exchanges == exchanges))
            for observer, row in enumerate(rows):
                data[observer, 2 * at : 2 * at + 2] = table.label[row]
        alpha = label_alpha(table, n_resamples=200)
        expected = krippendorff.alpha(reliability_data=data, level_of_measurement="ordinal")
        assert alpha.estimate == pytest.approx(expected, abs=1e-12)
        assert alpha.n_clusters == len(set(table.conversation.tolist()))

    def test_one_annotation_says_nothing(self):
        alpha = label_alpha(table_of([(0, "A", "B", 2, (2, 0), 0)], ("A", "B")))
        assert (alpha.estimate, alpha.reason) == (None, "no unit has two values")
