import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from spotthebot.analytics.stats.alpha import krippendorff_alpha, label_alpha
from spotthebot.analytics.stats.alpha_bootstrap import bootstrap_alpha
from spotthebot.analytics.stats.bca import bca_interval, bootstrap_clusters
from spotthebot.analytics.stats.disagreement import Measurement
from spotthebot.analytics.stats.kappa import fleiss_kappa
from spotthebot.analytics.stats.label_agreement import AgreementRule, label_agreement
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import renamed, shuffled, simulated_table, table_of
from tests.factories.known import known
from tests.factories.lazy_imports import lazily
from tests.factories.published_dump import reference

statsmodels_kappa = lazily("statsmodels.stats.inter_rater:fleiss_kappa")
proportion_confint = lazily("statsmodels.stats.proportion:proportion_confint")

LEVELS = [Measurement.NOMINAL, Measurement.ORDINAL, Measurement.INTERVAL, Measurement.RATIO]


def _columns(ratings):
    """Turn an (observers, units) matrix with None for missing into unit and value columns."""
    found = [(unit, value) for row in ratings for unit, value in enumerate(row) if value is not None]
    units, values = zip(*found, strict=True) if found else ((), ())
    return np.array(units, dtype=np.int64), np.array(values, dtype=np.float64)


def _rated(seed, most=3):
    """Draw 300 conversations of one to three units with two to `most` values, by 32 annotators."""
    rng = np.random.default_rng(seed)
    conversation = np.repeat(np.arange(300), rng.integers(1, 4, size=300))
    easy = rng.integers(4, size=300)[conversation]
    times = rng.integers(2, most + 1, size=len(conversation))
    unit = np.repeat(np.arange(len(conversation)), times)
    value = np.where(rng.random(len(unit)) < 0.6, easy[unit], rng.integers(4, size=len(unit)))
    annotator = np.concatenate([rng.permutation(32)[:n] for n in times])
    return unit, value, conversation[unit], annotator


def _alphas_without_each(cluster, unit, value, level):
    """Return alpha without each cluster in turn: of the coincidences of all units less those of the cluster's.

    By whole matrices of coincidences (Krippendorff 2011), which the code under test does without.
    """
    counts = np.zeros((unit.max() + 1, 4))
    np.add.at(counts, (unit, value), 1)
    paired = counts.sum(axis=1) > 1
    of_units = np.zeros((len(counts), 4, 4))
    for at in np.flatnonzero(paired):
        pairs = np.outer(counts[at], counts[at]) - np.diag(counts[at])
        of_units[at] = pairs / (counts[at].sum() - 1)
    first_row = np.unique(unit, return_index=True)[1]
    of_clusters = np.zeros((cluster.max() + 1, 4, 4))
    np.add.at(of_clusters, cluster[first_row], of_units)
    return np.array([_alpha_of(of_units.sum(axis=0) - each, level) for each in of_clusters])


def _alpha_of(matrix, level):
    marginals = matrix.sum(axis=1)
    places = np.cumsum(marginals) - marginals / 2 if level is Measurement.ORDINAL else np.arange(4.0)
    apart = (places[:, None] - places) ** 2
    if level is Measurement.NOMINAL:
        apart = 1 - np.eye(4)
    if level is Measurement.RATIO:
        apart = apart / np.maximum(places[:, None] + places, 1) ** 2
    return 1 - (marginals.sum() - 1) * np.sum(matrix * apart) / (marginals @ apart @ marginals)


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

    def test_replicates_equal_to_the_estimate_count_half(self):
        # A quarter below, a half equal, a quarter above: no bias, so that the bounds are the percentiles themselves.
        replicates = np.repeat([1.0, 2.0, 3.0], [250, 500, 250])
        spread = np.linspace(0, 1, 1000)
        low, high = bca_interval(replicates + spread * (replicates != 2), 2.0, np.array([-1.0, 0.0, 1.0]), 0.8)
        expected = np.quantile(replicates + spread * (replicates != 2), [0.1, 0.9])
        assert (low, high) == pytest.approx(tuple(expected))

    def test_replicates_on_one_side_give_no_bounds(self):
        assert all(np.isnan(bca_interval(np.full(50, 2.0), 1.0, np.arange(5.0), 0.95)))

    @pytest.mark.parametrize("size", [1e-300, 0.3, 1e12])
    @pytest.mark.parametrize("rounding", [0.0, 2**-52])
    def test_replicates_that_are_equal_but_for_rounding_give_no_bounds(self, size, rounding):
        replicates = size * (1 + rounding * (np.arange(50) % 4))
        assert all(np.isnan(bca_interval(replicates, size, size * np.arange(5.0), 0.95)))

    @pytest.mark.parametrize("factor", [1e-300, 1e-12, 1e12])
    def test_bounds_are_in_the_unit_of_the_replicates(self, factor):
        replicates = np.random.default_rng(1).gamma(2, size=500)
        plain, moved = (bca_interval(replicates * f, 2.0 * f, np.arange(5.0) ** 2 * f, 0.9) for f in (1, factor))
        assert [each / factor for each in moved] == pytest.approx(plain, rel=1e-9)

    def test_clusters_that_are_all_alike_give_an_estimate_without_bounds(self):
        alike = np.tile([1.0, 3.0], (6, 1))
        found = bootstrap_clusters(alike, _share, confidence_level=0.95, n_resamples=40, seed=1)
        assert (found.estimate, found.low, found.high) == (1 / 3, None, None)
        assert str(found.reason).startswith("all replicates are equal")

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

    @settings(max_examples=40)
    @given(
        ratings=st.lists(st.lists(st.sampled_from([None, 1, 2, 3, 5]), min_size=6, max_size=6), min_size=2, max_size=4),
        level=st.sampled_from(LEVELS),
    )
    def test_is_the_package_s(self, ratings, level):
        unit, value = _columns(ratings)
        ours = krippendorff_alpha(unit, value, level=level).estimate
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

    @pytest.mark.parametrize("level", LEVELS)
    def test_variance_of_conversations_is_the_jackknife_s(self, level):
        # 300 conversations of one to three units with two or three values: leave each conversation out in turn.
        unit, value, conversation, _ = _rated(5)
        found = krippendorff_alpha(unit, value, level=level, conversation=conversation)

        def jackknife(cluster):
            left_out = _alphas_without_each(cluster, unit, value, level)
            return np.var(left_out) * (len(left_out) - 1)

        # Never below what independent units would have.
        expected = math.sqrt(max(jackknife(conversation), jackknife(unit)))
        assert found.uncertainty.standard_error == pytest.approx(expected, rel=0.01)
        assert (found.uncertainty.conversations, found.uncertainty.annotators) == (300, 0)

    def test_variance_of_annotators_adds_up_the_units_that_share_one(self):
        unit, value, conversation, annotator = _rated(
            14
        )  # annotators matter: far above the variance of independent units
        found = krippendorff_alpha(
            unit, value, conversation=conversation, annotator=annotator, clusters=Clusters.ANNOTATOR
        )
        counted = [each for each in np.unique(unit) if np.sum(unit == each) > 1]
        without = _alphas_without_each(unit, unit, value, Measurement.NOMINAL)
        influence = known(found.estimate) - without[np.isin(np.unique(unit), counted)]
        crews = [set(annotator[unit == each].tolist()) for each in counted]
        share = np.array([[bool(one & other) for other in crews] for one in crews])
        # Units have two or three of 32 annotators: leaving one out leaves a share of 1 - 2.5 / 32 of them.
        sums = influence @ share @ influence
        assert known(found.uncertainty.standard_error) ** 2 / sums == pytest.approx(1 / (1 - 2.5 / 32) ** 2, rel=0.15)
        assert found.uncertainty.annotators == 32

    def test_few_annotators_have_no_interval_unless_they_are_the_panel(self):
        unit, value, conversation, annotator = _rated(7)
        few = krippendorff_alpha(unit, value, conversation=conversation, annotator=annotator % 6)
        assert (few.low, few.high, few.uncertainty.standard_error) == (None, None, None)
        assert known(few.reason).startswith("an interval for other annotators needs at least 8 annotators, not 6")
        panel = krippendorff_alpha(
            unit, value, conversation=conversation, annotator=annotator % 6, clusters=Clusters.FIXED_PANEL
        )
        assert known(panel.low) < known(panel.estimate) < known(panel.high)

    @pytest.mark.parametrize("clusters", list(Clusters))
    def test_method_names_annotators_habits_where_annotators_are_clusters_and_known(self, clusters: Clusters):
        unit, value, conversation, annotator = _rated(7)
        found = krippendorff_alpha(unit, value, conversation=conversation, annotator=annotator, clusters=clusters)
        assert ("annotators' habits" in found.method) == (clusters in {Clusters.BOTH, Clusters.ANNOTATOR})
        assert "habits" not in krippendorff_alpha(unit, value, clusters=clusters).method

    def test_perfect_agreement_has_no_interval_and_says_why(self):
        found = krippendorff_alpha([0, 0, 1, 1], [1, 1, 2, 2])
        assert (found.estimate, found.low, found.high) == (1, None, None)
        assert (
            found.reason
            == found.uncertainty.reason
            == "all annotators agree, so the data do not show how much others would disagree"
        )

    def test_refuses_a_unit_in_two_conversations_and_columns_of_two_lengths(self):
        with pytest.raises(SettingOutOfRange, match="conversation must be the same for all values of a unit"):
            krippendorff_alpha([0, 0], [1, 2], conversation=[0, 1])
        with pytest.raises(SettingOutOfRange, match="columns of one length"):
            krippendorff_alpha([0, 0], [1, 2, 3])


class TestBootstrapAlpha:
    def test_counts_replicates_without_variation(self):
        # Nine units agree on 1, one disagrees: (9 / 10)^10 of the replicates, 35 %, have nothing but ones.
        alpha = bootstrap_alpha(np.repeat(range(10), 2), [1] * 19 + [2], n_resamples=2000)
        assert alpha.n_undefined / 2000 == pytest.approx(0.9**10, abs=0.05)


class TestFleissKappa:
    def test_variance_of_conversations_is_the_jackknife_s(self):
        unit, value, conversation, _ = _rated(8, most=2)
        found = fleiss_kappa(unit, value, conversation=conversation)
        left_out = [
            known(fleiss_kappa(unit[rest], value[rest]).estimate)
            for rest in (conversation != each for each in range(300))
        ]
        jackknife = math.sqrt(299 / 300 * np.sum((np.array(left_out) - known(found.estimate)) ** 2))
        assert found.uncertainty.standard_error == pytest.approx(jackknife, rel=0.01)

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
    @pytest.mark.parametrize("rule", AgreementRule)
    def test_interval_of_independent_sides_is_wilson_s(self, rule):
        # Of 50 sides with the label, 15 have it twice; counted twice the share is 2 q / (1 + q).
        rows = [
            (at, "A", "B", 2, (label, 1), 2 * at + which)
            for at in range(50)
            for which, label in enumerate((2, 2) if at < 15 else (2, 0))
        ]
        found = label_agreement(table_of(rows, ("A", "B")), rule=rule, clusters=Clusters.NONE)
        human = next(each for each in found if (each.bot, each.label.name) == ("A", "HUMAN"))
        wilson = proportion_confint(15, 50, method="wilson")
        expected = [2 * q / (1 + q) if rule is AgreementRule.PUBLISHED else q for q in wilson]
        # Student's quantile with 49 degrees of freedom is wider than Wilson's normal one by a fortieth.
        assert [human.low, human.high] == pytest.approx(expected, abs=0.006)
        assert human.estimate == pytest.approx(30 / 65 if rule is AgreementRule.PUBLISHED else 15 / 50)
        share_error = math.sqrt(15 * 35 / 50**3) * math.sqrt(50 / 49)
        slope = 2 / 1.3**2 if rule is AgreementRule.PUBLISHED else 1
        assert human.uncertainty.standard_error == pytest.approx(share_error * slope)

    def test_few_annotators_have_no_interval_and_the_reason(self):
        for each in label_agreement(simulated_table(2, annotators=7)):
            assert (each.low, each.high) == (None, None)
            assert "an interval for other annotators needs" in known(each.uncertainty.reason)

    def test_eight_annotators_have_intervals(self):
        found = label_agreement(simulated_table(2, annotators=8))
        assert any(each.low is not None for each in found)

    def test_sides_that_share_one_of_their_annotators_vary_together(self):
        # Annotator 0 takes part in half of the sides and never agrees; the rest have annotators of their own.
        rows = [
            (at, "A", "B", 2, (label, 1), who)
            for at in range(40)
            for label, who in zip((2, 0) if at % 2 else (2, 2), (0 if at % 2 else 100 + at, 200 + at), strict=True)
        ]
        alone, shared = (
            next(each for each in label_agreement(table_of(rows, ("A", "B")), clusters=clusters) if each.agree)
            for clusters in (Clusters.CONVERSATION, Clusters.BOTH)
        )
        assert known(shared.uncertainty.standard_error) > 2 * known(alone.uncertainty.standard_error)
        assert shared.uncertainty.annotators == 61

    @settings(max_examples=15)
    @given(seed=st.integers(0, 1000))
    def test_the_order_of_rows_and_names_changes_nothing(self, seed):
        table = simulated_table(seed)
        one, rows, names = (
            {
                (each.bot, each.label.name): (each.agree, each.n, each.low or np.nan, each.high or np.nan)
                for each in label_agreement(t)
            }
            for t in (table, shuffled(table, seed), renamed(table, seed))
        )
        for of, figures in one.items():
            assert rows[of] == pytest.approx(figures, rel=1e-9, nan_ok=True)
            assert names[of] == pytest.approx(figures, rel=1e-9, nan_ok=True)


class TestLabelAlpha:
    def test_is_the_package_s_ordinal_alpha_of_both_sides(self):
        table = simulated_table(2)
        segments = sorted(set(zip(table.conversation.tolist(), table.exchanges.tolist(), strict=True)))
        data = np.full((table.annotator.max() + 1, 2 * len(segments)), np.nan)
        for at, (conversation, exchanges) in enumerate(segments):
            rows = np.flatnonzero((table.conversation == conversation) & (table.exchanges == exchanges))
            for row in rows:  # of one annotator's rows the last counts
                data[table.annotator[row], 2 * at : 2 * at + 2] = table.label[row]
        alpha = label_alpha(table)
        expected = krippendorff.alpha(reliability_data=data, level_of_measurement="ordinal")
        assert alpha.estimate == pytest.approx(expected, abs=1e-12)
        assert alpha.uncertainty.conversations == len(set(table.conversation.tolist()))
        assert alpha.uncertainty.clusters is Clusters.BOTH

    def test_one_annotation_says_nothing(self):
        alpha = label_alpha(table_of([(0, "A", "B", 2, (2, 0), 0)], ("A", "B")))
        assert (alpha.estimate, alpha.reason) == (None, "no unit has two values")
