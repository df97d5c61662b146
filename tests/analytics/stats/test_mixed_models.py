"""Mixed models of ratings: R's lme4 and ordinal compute the same, and neither names nor order nor scale matter."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy

from spotthebot.analytics.stats.mixed_models.cumulative_link import cumulative_link_mixed_model
from spotthebot.analytics.stats.mixed_models.design import Design
from spotthebot.analytics.stats.mixed_models.laplace import Likelihood
from spotthebot.analytics.stats.mixed_models.linear import linear_mixed_model
from spotthebot.analytics.stats.mixed_models.results import MixedModel
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.errors import SettingOutOfRange
from tests.analytics.stats.mixed_model_data import DATA_SETS, data_set, deviations, golden, small_study

Fitted = Callable[[Ratings], MixedModel]
MODELS = pytest.mark.parametrize("fitted", [linear_mixed_model, cumulative_link_mixed_model])


def _numbers(found: MixedModel) -> list[float | None]:
    """Return all estimates, standard errors and p-values."""
    bots = [number for each in found.bots for number in (each.estimate, each.standard_error, each.low, each.high)]
    pairs = [number for each in found.pairs for number in (each.estimate, each.p_value, each.p_adjusted)]
    return [*bots, *pairs, *(each.standard_deviation for each in found.components), *found.thresholds]


def _require_clmm(found: MixedModel, expected: dict[str, Any], tolerance: float) -> None:
    effects = np.array(expected["estimate"])
    covariance = np.zeros((len(effects), len(effects)))
    covariance[1:, 1:] = expected["covariance"]
    centred = np.eye(len(effects)) - 1 / len(effects)
    errors = np.sqrt(np.diag(centred @ covariance @ centred))
    assert [each.estimate for each in found.bots] == pytest.approx(effects - effects.mean(), abs=tolerance)
    assert [each.standard_error for each in found.bots] == pytest.approx(errors, rel=tolerance)
    first, second = np.triu_indices(len(effects), 1)
    gaps = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
    assert [each.standard_error for each in found.pairs] == pytest.approx(np.sqrt(gaps), rel=tolerance)
    thresholds = np.atleast_1d(expected["thresholds"]) - effects.mean()
    assert found.thresholds == pytest.approx(thresholds, abs=tolerance)
    assert deviations(found) == pytest.approx(expected["sd"], abs=tolerance)


class TestLinearMixedModel:
    @pytest.mark.parametrize("name", DATA_SETS)
    def test_is_that_of_lme4(self, name: str):
        expected = golden()["linear"][name]
        found = linear_mixed_model(data_set(name))
        assert found.reason is None
        assert [each.bot for each in found.bots] == expected["bots"]
        assert [each.estimate for each in found.bots] == pytest.approx(expected["estimate"], abs=1e-6)
        covariance = np.array(expected["covariance"])
        assert [each.standard_error for each in found.bots] == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-6)
        first, second = np.triu_indices(len(covariance), 1)
        gaps = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
        assert [each.standard_error for each in found.pairs] == pytest.approx(np.sqrt(gaps), rel=1e-6)
        assert deviations(found) == pytest.approx(expected["sd"], abs=1e-6)
        assert found.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-8)

    def test_tests_are_walds_z_with_holms_adjustment(self):
        found = linear_mixed_model(data_set("balanced"), confidence_level=0.9)
        for each in found.pairs:
            assert each.estimate is not None
            assert each.standard_error is not None
            assert each.p_value == pytest.approx(2 * scipy.stats.norm.sf(abs(each.estimate) / each.standard_error))
            assert each.high == pytest.approx(each.estimate + 1.6448536 * each.standard_error, abs=1e-6)
        p_values = np.array([each.p_value for each in found.pairs])
        assert [each.p_adjusted for each in found.pairs] == pytest.approx(adjust(p_values, Adjustment.HOLM))

    @pytest.mark.parametrize("factor", [1e-300, 1e-5, 1e12, 1e300])
    def test_follows_the_scale_and_the_origin_of_ratings(self, factor: float):
        ratings = data_set("unbalanced")
        found, moved = linear_mixed_model(ratings), linear_mixed_model(replace(ratings, value=ratings.value * factor))
        for one, same in zip(found.bots, moved.bots, strict=True):
            assert same.estimate == pytest.approx((one.estimate or 0) * factor, rel=1e-6)
            assert same.standard_error == pytest.approx((one.standard_error or 0) * factor, rel=1e-6)
        assert [each.p_value for each in moved.pairs] == pytest.approx([each.p_value for each in found.pairs], rel=1e-4)
        shifted = linear_mixed_model(replace(ratings, value=ratings.value + 1000))
        for one, same in zip(found.bots, shifted.bots, strict=True):
            assert same.estimate == pytest.approx((one.estimate or 0) + 1000)
            assert same.standard_error == pytest.approx(one.standard_error, rel=1e-6)
        assert shifted.log_likelihood == pytest.approx(found.log_likelihood)


class TestCumulativeLinkMixedModel:
    @pytest.mark.parametrize("name", DATA_SETS)
    def test_is_that_of_ordinal(self, name: str):
        # clmm stops its search earlier: of its deviation of annotators that is 0, it finds .00001.
        expected = golden()["cumulative"][name]
        found = cumulative_link_mixed_model(data_set(name))
        assert found.reason is None
        _require_clmm(found, expected, 5e-5)
        assert found.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-5)
        assert found.log_likelihood >= expected["log_likelihood"] - 1e-9

    @pytest.mark.parametrize("name", ["balanced", "unbalanced"])
    def test_is_the_logistic_mixed_model_if_there_are_two_categories(self, name: str):
        ratings = data_set(name)
        found = cumulative_link_mixed_model(replace(ratings, value=(ratings.value > 3).astype(np.float64)))
        _require_clmm(found, golden()["two_categories"][name], 1e-5)
        # glmer stops its search earlier than clmm, and takes its standard errors from other second derivatives.
        _require_clmm(found, golden()["logistic"][name], 5e-3)

    def test_derivatives_are_those_of_the_likelihood(self):
        ratings = data_set("unbalanced")
        likelihood = Likelihood.of(Design.of(ratings), np.unique(ratings.value, return_inverse=True)[1])
        at = np.array([-1, 0, 0.8, 1.7, 0.2, 0.8, 0.7, 0.5, 0.3])
        _, slope = likelihood.at(at)
        moves = 1e-5 * np.eye(len(at))
        numeric = [(likelihood.at(at + move)[0] - likelihood.at(at - move)[0]) / 2e-5 for move in moves]
        assert slope == pytest.approx(numeric, abs=1e-6)

    def test_takes_the_order_of_ratings_alone_and_leaves_out_unused_categories(self):
        ratings = data_set("unbalanced")
        found = cumulative_link_mixed_model(ratings)
        other = cumulative_link_mixed_model(replace(ratings, value=ratings.value**3 * 1e9))
        assert _numbers(other) == _numbers(found)
        assert other.categories == tuple(each**3 * 1e9 for each in found.categories)

    def test_turned_round_effects_change_their_signs(self):
        ratings = data_set("balanced")
        found, turned = (
            cumulative_link_mixed_model(each) for each in (ratings, replace(ratings, value=6 - ratings.value))
        )
        for one, other in zip(found.bots, turned.bots, strict=True):
            assert other.estimate == pytest.approx(-(one.estimate or 0), abs=1e-6)
            assert other.standard_error == pytest.approx(one.standard_error, rel=1e-6)
        assert turned.thresholds == pytest.approx([-each for each in reversed(found.thresholds)], abs=1e-6)
        assert turned.log_likelihood == pytest.approx(found.log_likelihood)


class TestMixedModels:
    @MODELS
    def test_depend_neither_on_the_order_of_rows_nor_on_names(self, fitted: Fitted):
        ratings = data_set("study")
        order = np.random.default_rng(1).permutation(len(ratings.value))
        mixed = Ratings(
            ratings.bots,
            ratings.bot[order],
            np.array([f"dialogue {999 - at}" for at in ratings.item[order].tolist()]),
            99 - ratings.annotator[order],
            ratings.value[order],
        )
        assert _numbers(fitted(mixed)) == pytest.approx(_numbers(fitted(ratings)), rel=1e-5, abs=1e-6)

    @MODELS
    def test_do_not_depend_on_which_grouping_is_larger(self, fitted: Fitted):
        ratings = data_set("balanced")
        one, other = fitted(ratings), fitted(replace(ratings, item=ratings.annotator, annotator=ratings.item))
        assert _numbers(other)[:24] == pytest.approx(_numbers(one)[:24], rel=1e-5, abs=1e-6)
        assert deviations(other)["annotator"] == pytest.approx(deviations(one)["dialogue"], rel=1e-5)
        assert [each.grouping for each in other.components[:2]] == ["dialogue", "annotator"]

    @MODELS
    def test_bots_that_change_places_change_signs_of_differences(self, fitted: Fitted):
        ratings = small_study()
        found, turned = fitted(ratings), fitted(replace(ratings, bot=1 - ratings.bot))
        assert turned.pairs[0].estimate == pytest.approx(-(found.pairs[0].estimate or 0), abs=1e-6)
        assert turned.pairs[0].p_value == pytest.approx(found.pairs[0].p_value, abs=1e-6)
        assert turned.bots[0].estimate == pytest.approx(found.bots[1].estimate, abs=1e-6)

    @MODELS
    def test_say_that_a_deviation_is_at_its_bound(self, fitted: Fitted):
        found = fitted(data_set("no_annotators"))
        dialogue, annotator = found.components[:2]
        assert (annotator.standard_deviation, annotator.n_groups) == (0.0, 6)
        assert "at its bound" in str(annotator.reason)
        assert dialogue.reason is None
        assert all(each.p_value is not None for each in found.pairs)

    @MODELS
    def test_refuse_settings_out_of_range(self, fitted: Callable[..., MixedModel]):
        with pytest.raises(SettingOutOfRange, match="confidence_level"):
            fitted(small_study(), confidence_level=1.0)
        with pytest.raises(SettingOutOfRange, match="adjustment"):
            fitted(small_study(), adjustment="tukey")
