"""The power of tests by ratings and behaviours, and the dialogues that a power takes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.analytics.power.rating_plans import CELLS, Cell, draw_study, power_found
from spotthebot.analytics.stats.intraclass_correlation import intraclass_correlation
from spotthebot.analytics.stats.rating_power import RatingDesign, effect_of_shares, rating_power, rating_powers
from spotthebot.analytics.stats.rating_sample_size import plan_dialogues, plan_power
from spotthebot.statistics.errors import SettingOutOfRange
from tests.factories.known import known
from tests.factories.lazy_imports import lazily

TTestIndPower = lazily("statsmodels.stats.power:TTestIndPower")
NormalIndPower = lazily("statsmodels.stats.power:NormalIndPower")


class TestIndependentRatings:
    def test_have_the_power_that_the_paper_of_abc_eval_states(self):
        """Finch, Finch & Choi 2023, section 10: 100 dialogues a bot, d = .40, two-tailed t test: .80."""
        assert f"{rating_power(0.4, 100):.2f}" == "0.80"
        assert rating_power(0.4, 100) == pytest.approx(TTestIndPower().power(0.4, 100, 0.05), abs=5e-4)

    @pytest.mark.parametrize(
        ("effect", "n", "level", "bots"), [(0.2, 400, 0.05, 2), (1, 8, 0.01, 2), (0.5, 90, 0.1, 4)]
    )
    def test_have_the_power_that_statsmodels_computes(self, effect, n, level, bots):
        expected = TTestIndPower().power(effect, n, level / (bots * (bots - 1) / 2))
        found = rating_power(effect, n, RatingDesign(bots=bots), significance_level=level)
        assert found == pytest.approx(expected, abs=1e-9)

    def test_have_independent_annotators_if_there_is_one_for_each_annotation(self):
        assert rating_power(0.4, 100, RatingDesign(annotators=200)) == rating_power(0.4, 100)
        assert rating_power(0.4, 100, RatingDesign(annotators=5000)) == rating_power(0.4, 100)
        assert rating_power(0.4, 100, RatingDesign(annotators=199)) < rating_power(0.4, 100)

    def test_have_the_power_of_a_false_alarm_if_they_do_not_differ(self):
        assert rating_power(0, 50, significance_level=0.03) == pytest.approx(0.03)

    def test_have_no_test_with_less_than_two_dialogues(self):
        assert [rating_power(5, n) for n in (0, 1)] == [0, 0]

    @pytest.mark.parametrize(("share", "other", "n"), [(0.3, 0.15, 130), (0.5, 0.4, 400), (0.9, 0.7, 60)])
    def test_have_the_normal_power_of_shares_within_the_spread_of_student(self, share, other, n):
        """The z test of two proportions with unpooled variance; with 60 values, t costs about a point."""
        error = math.sqrt((share * (1 - share) + other * (1 - other)) / n)
        normal = stats.norm.sf(stats.norm.isf(0.025) - abs(share - other) / error)
        effect = effect_of_shares(share, other)
        assert NormalIndPower().power(effect, n, 0.05) == pytest.approx(normal, abs=1e-3)
        assert normal - 0.015 < rating_power(effect, n) < normal


class TestDesignEffect:
    @pytest.mark.parametrize("annotators", [7, 35])
    def test_is_that_of_every_pair_of_values_in_expectation(self, annotators):
        """An annotator of w annotations has k of one bot, by the hypergeometric distribution: E k² / E k are alike."""
        dialogues, bots, turns = 35, 4, 3
        design = RatingDesign(
            bots, 1, turns, dialogue_correlation=0.2, annotator_correlation=0.1, annotators=annotators
        )
        everything, work = bots * dialogues, bots * dialogues // annotators
        assert work * annotators == everything
        counts = np.arange(work + 1)
        shares = stats.hypergeom.pmf(counts, everything, dialogues, work)
        mates = np.sum(shares * counts**2) / np.sum(shares * counts) - 1
        expected = 1 + (turns - 1) * 0.2 + mates * turns * 0.1
        assert design.design_effect(dialogues) == pytest.approx(expected)

    def test_counts_annotations_of_one_dialogue_by_several_people(self):
        design = RatingDesign(annotations_per_dialogue=3, values_per_annotation=2, dialogue_correlation=0.3)
        assert design.design_effect(50) == pytest.approx(1 + (3 * 2 - 1) * 0.3)

    def test_counts_the_annotators_that_the_work_takes(self):
        design = RatingDesign(bots=3, annotations_per_dialogue=1.5, annotations_per_annotator=30)
        assert [design.annotators_needed(dialogues) for dialogues in (2, 40, 41)] == [2, 6, 7]
        assert RatingDesign(annotators=9).annotators_needed(1000) == 9


class TestClusteredPower:
    @pytest.mark.parametrize("name", CELLS)
    def test_is_found_in_a_few_simulated_studies(self, name):
        """80 studies have a standard error of .045. The README has 2,000 studies a cell.

        So some cells find a correlation of which a third counts, and a level that is not divided among the pairs.
        """
        cell = CELLS[name]
        found = power_found(cell, 80)
        assert found["bonferroni"] == pytest.approx(cell.planned, abs=0.03 + 3.5 * max(found["error"], 0.01))
        assert found["holm"] >= found["bonferroni"]

    def test_is_averaged_over_the_variance_that_is_estimated(self):
        """With a large design effect the floor never holds: the power is that of the noncentral t."""
        design = RatingDesign(annotator_correlation=0.5, annotators=12)
        effect = 1.2
        annotations, work = 400, 800 / 12
        mates = (work - 1) * (annotations - 1) / (2 * annotations - 1)
        inflation = 1 + 0.5 * mates
        seen = annotations / (1 + mates)
        assumed = 1 / ((1 / inflation) ** 2 / (annotations - 1) + 1 / (seen - 1))
        critical = stats.t.isf(0.025, assumed)
        lead = effect * math.sqrt(annotations / inflation / 2)
        # The variance has the degrees of freedom of 12 annotators, nearly.
        expected = stats.nct.sf(critical, 11, lead)
        assert rating_power(effect, annotations, design) == pytest.approx(expected, abs=0.004)

    def test_is_certain_where_the_lead_is(self):
        assert rating_power(900, 50, RatingDesign(values_per_annotation=4)) == pytest.approx(1)

    def test_does_not_exceed_the_level_for_bots_alike(self):
        for design in (
            RatingDesign(annotators=12),
            RatingDesign(values_per_annotation=9),
            RatingDesign(5, annotators=12),
        ):
            assert 0 < rating_power(0, 80, design) <= 0.055

    def test_falls_with_both_correlations_and_rises_with_annotators(self):
        def power(dialogue=0.1, annotator=0.1, annotators=20):
            return rating_power(0.4, 60, RatingDesign(2, 2, 3, dialogue, annotator, annotators))

        assert power(dialogue=0.3) < power() < power(dialogue=0)
        assert power(annotator=0.3) < power() < power(annotator=0)
        assert power(annotators=10) < power() < power(annotators=40)

    def test_is_the_same_for_both_signs(self):
        assert rating_power(-0.4, 60, RatingDesign(annotators=20)) == rating_power(0.4, 60, RatingDesign(annotators=20))

    def test_is_the_same_for_one_number_and_for_several(self):
        design = RatingDesign(3, annotators=30)
        several = rating_powers(0.4, np.array([1, 20, 90]), design, 0.05)
        assert several == pytest.approx([rating_power(0.4, n, design) for n in (1, 20, 90)])


class TestPlanDialogues:
    @settings(max_examples=25)
    @given(
        effect=st.floats(0.1, 2),
        power=st.floats(0.3, 0.95),
        design=st.builds(
            RatingDesign,
            bots=st.integers(2, 6),
            values_per_annotation=st.integers(1, 12),
            annotations_per_annotator=st.sampled_from([1, 20]),
        ),
    )
    def test_returns_the_fewest_dialogues(self, effect, power, design):
        plan = plan_dialogues(effect, design, power=power)
        dialogues = known(plan.dialogues)
        assert known(plan.power) == rating_power(effect, dialogues, design) >= power
        assert rating_power(effect, dialogues - 1, design) < power
        assert (plan.annotators, plan.requested_power) == (design.annotators_needed(dialogues), power)
        assert plan.design_effect == design.design_effect(dialogues)

    def test_inverts_the_power_that_statsmodels_solves_for(self):
        expected = math.ceil(TTestIndPower().solve_power(0.4, None, 0.05, 0.8))
        assert plan_dialogues(0.4).dialogues == expected

    def test_says_so_where_only_more_annotators_are_enough(self):
        """The variance of 8 annotators' tastes stays: 2 * .09 / 8 at least, which d = .4 exceeds 2.7 times."""
        few = plan_dialogues(0.4, RatingDesign(annotators=8))
        assert (few.dialogues, few.annotators, few.power) == (None, 8, None)
        assert few.reason == "no number of dialogues is enough for 8 annotators: only more annotators are"
        assert known(plan_dialogues(0.4, RatingDesign(annotators=40)).dialogues) > 100

    def test_says_so_where_an_effect_is_too_small_for_any_study(self):
        for design in (RatingDesign(), RatingDesign(annotators=1000, annotator_correlation=0)):
            assert plan_dialogues(0.0001, design).reason == "1,000,000 dialogues are not enough"

    def test_gives_no_number_for_bots_alike(self):
        assert plan_dialogues(0).reason == "even bots cannot be told apart"

    def test_has_the_power_of_given_dialogues(self):
        design = RatingDesign(annotators=30)
        plan = plan_power(0.4, 70, design, significance_level=0.01)
        assert plan.power == rating_power(0.4, 70, design, significance_level=0.01)
        assert (plan.dialogues, plan.annotators, plan.requested_power, plan.reason) == (70, 30, None, None)

    @pytest.mark.parametrize("dialogues", [-1, 1_000_001])
    def test_refuses_numbers_of_dialogues_that_nobody_has(self, dialogues):
        with pytest.raises(SettingOutOfRange, match="dialogues"):
            plan_power(0.4, dialogues)


class TestSimulatedStudies:
    @pytest.mark.parametrize(
        ("effect", "dialogue", "annotator"), [(0.0, 0.3, 0.1), ((0.3, 0.3), 0.25, 0.0), ((0.3, 0.3), 0.0, 0.2)]
    )
    def test_have_the_correlations_of_their_design(self, effect, dialogue, annotator):
        design = RatingDesign(2, 2, 4, dialogue, annotator, 300)
        ratings = draw_study(Cell(design, 3000, effect), np.random.default_rng(2))
        deviation = ratings.value - ratings.value.mean()
        # A dialogue has 8 values; 3 of 7 others are by the same annotator, whose taste they have in common.
        within = intraclass_correlation(deviation, ratings.item, ratings.bot)
        assert within == pytest.approx(dialogue + annotator * 3 / 7, abs=0.02)
        # Of an annotator's 80 values of a bot nearly none share a dialogue with another.
        by_annotator = intraclass_correlation(deviation, ratings.annotator, ratings.bot)
        assert by_annotator == pytest.approx(annotator + dialogue * 3 / 79, abs=0.02)

    def test_share_the_work_evenly(self):
        ratings = draw_study(CELLS["ratings by two annotators each, 40 annotators"], np.random.default_rng(1))
        assert np.unique(np.bincount(ratings.annotator)).tolist() == [10]
        pairs = ratings.annotator.reshape(-1, 2)
        assert (pairs[:, 0] != pairs[:, 1]).all()


class TestIntraclassCorrelation:
    def test_is_the_analysis_of_variance_of_clusters_in_groups_written_out(self):
        """Two groups of two clusters of three, with equal codes: 2 degrees of freedom between, 8 within."""
        value = np.array([1, 2, 4, 3, 6, 5, 9, 7, 8, 2, 3, 1], dtype=float)
        cluster, group = np.repeat([0, 1, 0, 1], 3), np.repeat([0, 1], 6)
        deviation = value - np.repeat([value[:6].mean(), value[6:].mean()], 6)
        means = value.reshape(4, 3).mean(axis=1)
        between = 3 * np.sum((means - np.repeat([value[:6].mean(), value[6:].mean()], 2)) ** 2) / 2
        within = np.sum((value - np.repeat(means, 3)) ** 2) / 8
        expected = (between - within) / (between + 2 * within)
        assert intraclass_correlation(deviation, cluster, group) == pytest.approx(expected)

    def test_is_0_where_clusters_say_nothing(self):
        deviation, everything = np.array([1.0, -1.0, 2.0, -2.0]), np.zeros(4, dtype=int)
        assert intraclass_correlation(deviation, np.arange(4), everything) == 0
        assert intraclass_correlation(deviation, everything, everything) == 0
        assert intraclass_correlation(np.zeros(4), np.array([0, 0, 1, 1]), everything) == 0
