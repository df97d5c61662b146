"""Ratings from which a mixed model cannot be estimated: the result says why, and has no numbers."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from spotthebot.analytics.stats.mixed_models import cumulative_link, design
from spotthebot.analytics.stats.mixed_models.cumulative_link import cumulative_link_mixed_model
from spotthebot.analytics.stats.mixed_models.linear import linear_mixed_model
from spotthebot.analytics.stats.mixed_models.results import MixedModel
from spotthebot.analytics.stats.rating_estimates import Ratings
from tests.analytics.stats.mixed_model_data import small_study

_STUDY = small_study()
_ROWS = np.arange(len(_STUDY.value))
_EMPTY = np.zeros(0, dtype=np.int64)
_NONE = Ratings(("A", "B"), _EMPTY, _EMPTY, _EMPTY, np.zeros(0))
_ALIKE = "divide the ratings alike"
_BOTH: Mapping[str, tuple[Ratings, str]] = MappingProxyType(
    {
        "no ratings": (_NONE, "fewer than two bots have ratings"),
        "one bot": (replace(_STUDY, bots=("A",), bot=_STUDY.bot * 0), "fewer than two bots"),
        "one of two bots": (replace(_STUDY, bot=_STUDY.bot * 0), "fewer than two bots"),
        "one dialogue": (replace(_STUDY, item=_STUDY.item * 0), "all ratings are of one dialogue"),
        "one annotator": (replace(_STUDY, annotator=_STUDY.annotator * 0), "all ratings are of one annotator"),
        "one value": (replace(_STUDY, value=_STUDY.value * 0 + 3), "all ratings are alike"),
        "one rating a dialogue": (replace(_STUDY, item=_ROWS), "each dialogue has one rating"),
        "one rating an annotator": (replace(_STUDY, annotator=_ROWS), "each annotator has one rating"),
        "an annotator for each dialogue": (replace(_STUDY, annotator=_STUDY.item), _ALIKE),
        "a dialogue for each bot": (replace(_STUDY, item=_STUDY.bot), _ALIKE),
        "an annotator for each bot": (replace(_STUDY, annotator=_STUDY.bot), _ALIKE),
    }
)


def _low_and_high(values_of_a: tuple[int, ...], values_of_b: tuple[int, ...]) -> Ratings:
    """Return a study in which each bot has these values in turn."""
    turns = (np.resize(values, len(_ROWS) // 2) for values in (values_of_a, values_of_b))
    return replace(_STUDY, value=np.concatenate(list(turns)))


def _require_no_numbers(found: MixedModel, reason: str) -> None:
    assert reason in str(found.reason)
    assert {(each.estimate, each.standard_error, each.low, each.high) for each in found.bots} == {(None,) * 4}
    assert all(each.estimate is None and each.p_adjusted is None for each in found.pairs)
    assert {each.reason for each in found.bots} == {found.reason}
    assert all(each.reason == found.reason for each in found.pairs)
    assert (found.components, found.thresholds, found.log_likelihood) == ((), (), None)


class TestMixedModelsOfOddRatings:
    @pytest.mark.parametrize("fitted", [linear_mixed_model, cumulative_link_mixed_model])
    @pytest.mark.parametrize("name", _BOTH)
    def test_have_a_reason(self, fitted: Callable[[Ratings], MixedModel], name: str):
        ratings, reason = _BOTH[name]
        _require_no_numbers(fitted(ratings), reason)

    @pytest.mark.parametrize("fitted", [linear_mixed_model, cumulative_link_mixed_model])
    def test_a_bot_without_ratings_has_none_and_others_do_not_change(self, fitted: Callable[[Ratings], MixedModel]):
        found = fitted(replace(_STUDY, bots=("A", "Z", "B"), bot=2 * _STUDY.bot))
        alone = fitted(_STUDY)
        assert found.reason is None
        assert (found.bots[0], found.bots[2]) == alone.bots
        assert (found.bots[1].estimate, found.bots[1].reason) == (None, "it has no ratings")
        assert [each.reason for each in found.pairs] == ["Z: no ratings", None, "Z: no ratings"]
        assert found.pairs[1] == alone.pairs[0]

    @pytest.mark.parametrize("fitted", [linear_mixed_model, cumulative_link_mixed_model])
    def test_too_many_groups_have_a_reason(
        self, fitted: Callable[[Ratings], MixedModel], monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(design, "MAX_CELLS", 47)
        _require_no_numbers(fitted(_STUDY), "12 dialogues and 4 annotators are too many")


class TestLinearMixedModelOfOddRatings:
    def test_bots_whose_own_ratings_are_alike_have_a_reason(self):
        _require_no_numbers(linear_mixed_model(_low_and_high((1,), (2,))), "ratings of each bot are all alike")

    def test_ratings_without_a_residual_have_a_reason(self):
        ratings = replace(_STUDY, value=_STUDY.bot + 0.5 * _STUDY.item + 0.3 * _STUDY.annotator)
        _require_no_numbers(linear_mixed_model(ratings), "no residual is left")


class TestCumulativeLinkMixedModelOfOddRatings:
    @pytest.mark.parametrize(
        ("values_of_a", "values_of_b", "reason"),
        [
            ((1,), (1, 2, 3), "all ratings of A are 1, at an end of the scale"),
            ((1, 2, 3), (3,), "all ratings of B are 3, at an end of the scale"),
            ((1, 2), (3, 4), "no bot has ratings both below and above 2"),
            ((1, 2, 3), (3, 4, 5), "no bot has ratings both below and above 3"),
            ((1,), (2,), "all ratings of A are 1"),
        ],
    )
    def test_separated_bots_have_a_reason(self, values_of_a, values_of_b, reason: str):
        _require_no_numbers(cumulative_link_mixed_model(_low_and_high(values_of_a, values_of_b)), reason)

    def test_a_bot_with_one_value_amid_the_others_has_an_effect(self):
        found = cumulative_link_mixed_model(_low_and_high((3, 3), (1, 2, 3, 5, 4, 2, 3)))
        assert found.reason is None
        assert found.bots[0].estimate is not None

    def test_dialogues_whose_ratings_are_alike_have_a_reason(self):
        found = cumulative_link_mixed_model(replace(_STUDY, value=(_STUDY.item % 3).astype(np.float64)))
        _require_no_numbers(found, "grows without bound")

    def test_ratings_with_too_many_values_have_a_reason(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(cumulative_link, "MAX_CATEGORIES", 4)
        _require_no_numbers(cumulative_link_mixed_model(_STUDY), "5 different values")
