"""Agreement of repeated, missing, named, huge and many values: the coefficients of the rows that say something."""

import resource
from typing import Any, cast

import krippendorff
import numpy as np
import pandas as pd
import pytest

from spotthebot.analytics.stats.alpha import krippendorff_alpha
from spotthebot.analytics.stats.alpha_bootstrap import bootstrap_alpha
from spotthebot.analytics.stats.annotators import annotator_quality
from spotthebot.analytics.stats.disagreement import Measurement
from spotthebot.analytics.stats.kappa import fleiss_kappa
from spotthebot.analytics.stats.label_agreement import AgreementRule, label_agreement
from spotthebot.statistics.errors import ColumnMalformed, SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import table_of
from tests.factories.known import known
from tests.factories.lazy_imports import lazily

statsmodels_kappa = lazily("statsmodels.stats.inter_rater:fleiss_kappa")

NUMERIC = [Measurement.ORDINAL, Measurement.INTERVAL, Measurement.RATIO]


def _at_random(seed=0, units=100, annotators=12):
    """Draw two labels 0, 1, 2 of each unit by two of the annotators, without a regard for the unit."""
    rng = np.random.default_rng(seed)
    who = np.concatenate([rng.choice(annotators, size=2, replace=False) for _ in range(units)])
    return np.repeat(np.arange(units), 2), rng.integers(3, size=2 * units), who


def _package_alpha(unit, value, annotator, level):
    """Return alpha of the package krippendorff, in whose table a later value of an annotator replaces an earlier."""
    data = np.full((annotator.max() + 1, unit.max() + 1), np.nan)
    data[annotator, unit] = value
    return krippendorff.alpha(reliability_data=data, level_of_measurement=level.value)


def _written_out(unit, value, level):
    """Return alpha by its definition over pairs of rows, which takes a table of rows times rows."""
    n = len(value)
    ranks = np.argsort(np.argsort(value)) + 0.5  # of values that all differ
    apart = {
        Measurement.NOMINAL: 1.0 - np.eye(n),
        Measurement.ORDINAL: (ranks[:, None] - ranks) ** 2,
        Measurement.INTERVAL: (value[:, None] - value) ** 2,
        Measurement.RATIO: ((value[:, None] - value) / (value[:, None] + value)) ** 2,
    }[level]
    within = (unit[:, None] == unit) / (np.bincount(unit)[unit] - 1)
    return 1 - (n - 1) * np.sum(apart * within) / np.sum(apart)


class TestRepeatedRows:
    @pytest.mark.parametrize("level", Measurement)
    def test_doubled_rows_of_annotators_change_nothing(self, level):
        unit, value, annotator = _at_random()
        once = krippendorff_alpha(unit, value, level=level, annotator=annotator)
        twice = krippendorff_alpha(
            *(np.tile(each, 2) for each in (unit, value)), level=level, annotator=np.tile(annotator, 2)
        )
        assert twice.estimate == once.estimate
        assert twice.low == once.low
        assert twice.high == once.high
        assert (once.n_repeated, twice.n_repeated, twice.n_values) == (0, 200, 200)
        drawn = bootstrap_alpha(
            np.tile(unit, 2), np.tile(value, 2), level=level, annotator=np.tile(annotator, 2), n_resamples=20
        )
        assert drawn.estimate == pytest.approx(known(once.estimate))

    @pytest.mark.parametrize("level", Measurement)
    def test_a_later_row_corrects_an_earlier_one_as_in_the_package_s_table(self, level):
        unit, value, annotator = _at_random(1)
        again = np.random.default_rng(2).integers(3, size=80)
        columns = np.append(unit, unit[:80]), np.append(value, again), np.append(annotator, annotator[:80])
        found = krippendorff_alpha(columns[0], columns[1], level=level, annotator=columns[2])
        assert found.estimate == pytest.approx(_package_alpha(*columns, level), abs=1e-12)

    def test_one_annotator_alone_agrees_with_nobody(self):
        unit = np.repeat(np.arange(20), 2)
        for measure in (krippendorff_alpha, fleiss_kappa):
            found = measure(unit, unit % 3, annotator=np.zeros(40))
            assert found.estimate is None
            assert str(found.reason).startswith("no unit has two")

    def test_kappa_of_doubled_rows_is_statsmodels_of_the_rows_themselves(self):
        unit, value, annotator = _at_random(3)
        found = fleiss_kappa(np.tile(unit, 2), np.tile(value, 2), annotator=np.tile(annotator, 2))
        table = np.zeros((100, 3))
        np.add.at(table, (unit, value), 1)
        assert found.estimate == pytest.approx(statsmodels_kappa(table))
        assert (found.ratings, found.n_repeated) == (2, 200)

    @pytest.mark.parametrize("rule", AgreementRule)
    def test_two_rows_of_one_annotator_are_no_pair_of_labels(self, rule):
        rows = [(at, "A", "B", 2, (2, 0), who) for at in range(4) for who in (0, 0)]
        assert {each.n for each in label_agreement(table_of(rows, ("A", "B")), rule=rule)} == {0}
        # Annotations are counted, as the paper's table counts them: a third one leaves a segment out.
        rows = [(0, "A", "B", 2, (2, 0), 0), (0, "A", "B", 2, (2, 1), 0), (0, "A", "B", 2, (2, 1), 1)]
        assert {each.n for each in label_agreement(table_of(rows, ("A", "B")), rule=rule)} == {0}

    def test_an_annotator_is_no_majority_for_themselves(self):
        rows = [(at, "A", "B", 2, (2, 0), 0) for at in range(4) for _ in range(2)]
        (one,) = annotator_quality(table_of(rows, ("A", "B"))).annotators
        assert (one.n, one.majority_agreement) == (8, None)
        # Another's "unsure" is the majority for the first of the two, whatever they said twice themselves.
        (first, second) = annotator_quality(table_of([*rows, (0, "A", "B", 2, (1, 1), 1)], ("A", "B"))).annotators
        assert (first.majority_agreement, second.majority_agreement) == (0, 0)


class TestMissingValues:
    @pytest.mark.parametrize("missing", [None, float("nan"), np.datetime64("NaT"), "", " "])
    @pytest.mark.parametrize("level", Measurement)
    def test_are_left_out(self, level, missing):
        found = krippendorff_alpha([0, 0, 1, 1, 2, 2], [1, 1, 2, 2, missing, 3], level=level)
        assert (found.estimate, found.n, found.n_values) == (1, 2, 4)

    def test_are_left_out_of_pandas_and_masked_arrays(self):
        unit = [0, 0, 1, 1, 2, 2]
        for column in (
            pd.Series([1, 1, 2, 2, pd.NA, 3], dtype="Int64"),
            pd.Series(["a", "a", "b", "b", None, "c"]),
            np.ma.masked_equal([1, 1, 2, 2, -1, 3], -1),
            np.array(["a", "a", "b", "b", np.nan, "c"]),  # numpy makes the text "nan" of it
        ):
            assert krippendorff_alpha(unit, column).estimate == 1
            assert fleiss_kappa(unit, column).n == 2
            assert bootstrap_alpha(unit, column, n_resamples=5).estimate == 1

    def test_a_missing_unit_or_annotator_is_refused_by_its_row(self):
        with pytest.raises(ColumnMalformed, match=r"Column unit, row 1 \(the first is 0\): is missing"):
            krippendorff_alpha(np.array([0, None, 1]), [1, 1, 2])
        with pytest.raises(ColumnMalformed, match="Column annotator, row 2"):
            krippendorff_alpha([0, 0, 1], [1, 1, 2], annotator=np.array(["a", "b", float("nan")], dtype=object))


class TestLevels:
    def test_a_level_that_is_none_is_refused_with_those_there_are(self):
        with pytest.raises(
            SettingOutOfRange, match="level must be one of nominal, ordinal, interval, ratio, not cardinal"
        ):
            krippendorff_alpha([0, 0, 1, 1], [1, 1, 2, 2], level=cast("Any", "cardinal"))


class TestWords:
    def test_are_categories_of_the_nominal_level(self):
        value = ["yes", "yes", "no", "no", "yes", "no"]
        numbers = [each == "yes" for each in value]
        for measure in (krippendorff_alpha, fleiss_kappa):
            assert measure([0, 0, 1, 1, 2, 2], value).estimate == measure([0, 0, 1, 1, 2, 2], numbers).estimate

    @pytest.mark.parametrize("level", NUMERIC)
    def test_have_no_order_and_no_distance(self, level):
        with pytest.raises(ColumnMalformed, match=r"Column value, row 1 .* 'good' is not a number"):
            krippendorff_alpha([0, 0], np.array([1, "good"], dtype=object), level=level)

    def test_are_numbers_where_they_spell_numbers(self):
        found = krippendorff_alpha([0, 0, 1, 1], ["10", "9", "2", "2.0"], level=Measurement.INTERVAL)
        same = krippendorff_alpha([0, 0, 1, 1], [10, 9, 2, 2], level=Measurement.INTERVAL)
        assert found.estimate == same.estimate


class TestHugeAndTinyValues:
    @pytest.mark.parametrize("level", [Measurement.NOMINAL, Measurement.ORDINAL, Measurement.INTERVAL])
    @pytest.mark.parametrize("shift", [2**53, 2**63, -(2**80), 10**400])
    def test_integers_beyond_double_precision_stay_apart(self, level, shift):
        unit, value, _ = _at_random(4)
        moved = [int(each) + shift for each in value]
        found = krippendorff_alpha(unit, moved, level=level).estimate
        assert found == pytest.approx(known(krippendorff_alpha(unit, value, level=level).estimate))

    @pytest.mark.parametrize("level", NUMERIC)
    @pytest.mark.parametrize("factor", [1e-300, 1e-12, 1e12, 1e300])
    def test_the_unit_of_a_scale_changes_nothing(self, level, factor):
        unit, value, annotator = _at_random(5)
        one, other = (
            krippendorff_alpha(unit, each, level=level, annotator=annotator) for each in (value, value * factor)
        )
        assert (other.estimate, other.low, other.high) == pytest.approx((one.estimate, one.low, one.high))

    def test_stay_apart_as_units_and_annotators_too(self):
        unit, annotator = [2**60, 2**60, 2**60 + 1, 2**60 + 1], [2**70, 2**70 + 1] * 2
        assert krippendorff_alpha(unit, [1, 1, 2, 2], annotator=annotator).n == 2

    def test_what_a_level_cannot_tell_apart_is_refused(self):
        with pytest.raises(SettingOutOfRange, match="value must be 0 or more at the level ratio, not -1"):
            krippendorff_alpha([0, 0], [-1, 1], level=Measurement.RATIO)
        with pytest.raises(SettingOutOfRange, match="finite at the level interval"):
            krippendorff_alpha([0, 0], [1, float("inf")], level=Measurement.INTERVAL)
        assert krippendorff_alpha([0, 0, 1, 1], [1, 1, float("inf"), 2], level=Measurement.ORDINAL).estimate is not None


class TestManyValues:
    @pytest.mark.parametrize("level", Measurement)
    def test_2_000_different_ones_take_little_memory_and_give_the_sum_over_pairs(self, level):
        value = np.random.default_rng(6).permutation(2000) + 1.0
        unit = np.repeat(np.arange(1000), 2)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found = krippendorff_alpha(unit, value, level=level, annotator=np.tile(np.arange(40), 50))
        drawn = bootstrap_alpha(unit, value, level=level, n_resamples=10)
        assert (
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000
        )  # KB; one matrix a unit, as the package has, takes 30 GiB
        expected = _written_out(unit, value, level)
        assert found.estimate == pytest.approx(expected, abs=1e-9)
        assert drawn.estimate == pytest.approx(expected, abs=1e-9)

    def test_more_than_memory_holds_is_refused_with_a_way_out(self):
        unit = np.repeat(np.arange(10_000), 2)
        with pytest.raises(SettingOutOfRange, match="`krippendorff_alpha` has an interval without a bootstrap"):
            bootstrap_alpha(unit, np.arange(20_000), level=Measurement.ORDINAL)
        with pytest.raises(SettingOutOfRange, match="different amounts at most"):
            krippendorff_alpha(np.repeat(np.arange(20_000), 2), np.arange(40_000), level=Measurement.RATIO)
        assert krippendorff_alpha(unit, np.arange(20_000), level=Measurement.INTERVAL).n == 10_000


@pytest.mark.parametrize("clusters", Clusters)
def test_kappa_of_annotators_who_always_disagree_has_no_interval(clusters: Clusters):
    # Two units, each with one label of each kind: the share that agrees is 0, expected are 0.5: (0 - 0.5) / 0.5.
    kappa = fleiss_kappa([0, 0, 1, 1], ["x", "y", "x", "y"], clusters=clusters)
    assert (kappa.estimate, kappa.low, kappa.high) == (-1.0, None, None)
    assert kappa.uncertainty.reason is not None
