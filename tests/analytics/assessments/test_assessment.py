"""Which measures deserve trust: figures held against statsmodels, scipy and cases worked by hand."""

from typing import Any

import numpy as np
import pytest

from spotthebot.analytics.assessments.domain.assessment import AssessmentSettings, assess
from spotthebot.analytics.stats import bootstrap_alpha
from spotthebot.analytics.stats.rating_differences import rating_differences
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.values.domain.assessed_values import Dialogues, MeasuredValues, preferences_of
from spotthebot.contracts.analytics.assessments import AssessedMeasure, Assessment
from tests.factories.known import known
from tests.factories.lazy_imports import lazily

sm = lazily("statsmodels.api")

N, BOTS = 120, 4


def _dialogues(n: int = N, bots: int = BOTS) -> Dialogues:
    at = np.arange(n)
    return Dialogues(tuple(f"bot {each}" for each in range(bots)), at % bots, at)


def _values(name: str, value: Any, dialogue: Any = None, annotator: Any = None, **more: Any) -> MeasuredValues:
    value = np.asarray(value, dtype=float)
    dialogue = np.arange(len(value)) if dialogue is None else dialogue
    return MeasuredValues(name, "dialogue", dialogue, np.zeros(len(value), dtype=int), annotator, value, **more)


def _study(seed: int = 0) -> tuple[dict[str, MeasuredValues], MeasuredValues]:
    """Return measures that two of ten annotators rated, and the quality that each dialogue's interactor saw."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=N) + 0.5 * (np.arange(N) % BOTS)
    dialogue = np.repeat(np.arange(N), 2)
    annotator = (dialogue * 3 + np.tile([0, 1], N) * 7) % 10
    noise = rng.normal(size=(3, 2 * N))
    measures = {
        "consistent": np.clip(np.round(3 + quality[dialogue] + 0.5 * noise[0]), 1, 5),
        "empathetic": (quality[dialogue] + noise[1] > 0.5).astype(float),
        "noise": np.clip(np.round(3 + noise[2]), 1, 5),
        "antisocial": np.zeros(2 * N),
    }
    rated = {name: _values(name, value, dialogue, annotator) for name, value in measures.items()}
    seen = np.clip(np.round(3 + quality), 1, 5)
    return rated, _values("quality", seen, annotator=np.arange(N))


def _of(found: Assessment, name: str) -> AssessedMeasure:
    return next(each for each in found.measures if each.name == name)


@pytest.fixture(scope="module")
def found() -> Assessment:
    measures, outcome = _study()
    return assess(list(measures.values()), outcome, _dialogues())


class TestImportance:
    def test_is_of_means_of_all_values_of_a_dialogue(self, found):
        measures, outcome = _study()
        means = measures["consistent"].value.reshape(N, 2).mean(axis=1)
        fitted = sm.OLS(outcome.value, sm.add_constant(means)).fit()
        measure = _of(found, "consistent")
        assert measure.r2 == pytest.approx(fitted.rsquared)
        assert measure.published_p_value == pytest.approx(fitted.f_pvalue)
        assert measure.n == N
        assert measure.reason is None

    def test_is_mcfadden_s_for_an_outcome_with_two_values(self):
        measures, outcome = _study()
        liked = (outcome.value > 3).astype(float)
        found = assess([measures["empathetic"]], _values("liked", 2 + 5 * liked), _dialogues())
        means = measures["empathetic"].value.reshape(N, 2).mean(axis=1)
        assert _of(found, "empathetic").r2 == pytest.approx(
            sm.Logit(liked, sm.add_constant(means)).fit(disp=0).prsquared
        )
        assert _of(found, "empathetic").method.startswith(
            "McFadden's R² of a logistic model of an outcome with two values"
        )

    def test_is_over_dialogues_that_have_both(self):
        measures, outcome = _study()
        half = _values("quality", outcome.value[:60], annotator=np.arange(60))
        assert _of(assess([measures["noise"]], half, _dialogues()), "noise").n == 60

    def test_depends_on_how_many_outcomes_a_person_rated(self):
        measures, outcome = _study()
        rng = np.random.default_rng(8)
        people = np.arange(N) % 12
        shared = outcome.value + 2 * rng.normal(size=12)[people]
        few, many = (
            _of(assess([measures["noise"]], _values("q", shared, annotator=who), _dialogues()), "noise")
            for who in (people, np.arange(N))
        )
        assert few.r2 == many.r2
        assert few.p_value != many.p_value


class TestPreferences:
    def _compared(self) -> tuple[MeasuredValues, MeasuredValues, Dialogues]:
        """Return a measure, and who of two bots was preferred in 80 items, tied in some."""
        rng = np.random.default_rng(5)
        item, bot = np.repeat(np.arange(80), 2), np.tile([0, 1], 80)
        measure = rng.normal(size=160) + 0.4 * bot
        lead = measure[::2] - measure[1::2] + rng.normal(size=80)
        first = np.where(np.abs(lead) < 0.3, 0.5, (lead > 0).astype(float))
        outcome = _values("preferred", np.column_stack([first, 1 - first]).ravel(), annotator=item, compared=item)
        return _values("measure", measure), outcome, Dialogues(("a", "b"), bot, item)

    def test_are_predicted_by_differences_within_pairs_without_ties(self):
        measure, outcome, dialogues = self._compared()
        found = _of(assess([measure], outcome, dialogues), "measure")
        difference = measure.value[::2] - measure.value[1::2]
        decided = outcome.value[::2] != 0.5
        fitted = sm.Logit(outcome.value[::2][decided], difference[decided, None]).fit(disp=0)
        assert found.n == decided.sum() < 80
        assert found.r2 == pytest.approx(1 - fitted.llf / (decided.sum() * np.log(0.5)))
        assert "differences within pairs, ties left out" in found.method

    def test_as_a_measure_have_sign_tests_and_agreement_of_the_first_side(self):
        _, outcome, dialogues = self._compared()
        quality = _values("quality", np.random.default_rng(0).normal(size=160))
        found = _of(assess([outcome], quality, dialogues), "preferred")
        assert found.level == "pair"
        assert "sign tests" in known(found.published).method
        assert "win rate" in found.pairs_method

    @pytest.mark.parametrize("value", [[1, 1, 0, 1], [1, 0.2, 0, 1], [1, 0, 0.5, 0]])
    def test_add_up_to_one(self, value):
        item = np.array([0, 0, 1, 1])
        dialogues = Dialogues(("a", "b"), np.array([0, 1, 0, 1]), item)
        assert preferences_of(_values("preferred", value, compared=item), dialogues) is None
        assert preferences_of(_values("preferred", [1, 0, 0.5, 0.5], compared=item), dialogues) is not None
        assert preferences_of(_values("preferred", [1, 0, 0.5, 0.5]), dialogues) is None


class TestInterpretability:
    def test_is_alpha_with_bca_bounds_of_dialogues(self, found):
        measures, _ = _study()
        values = measures["empathetic"]
        alpha = bootstrap_alpha(values.dialogue, values.value, cluster=values.dialogue, annotator=values.annotator)
        assert (_of(found, "empathetic").alpha.estimate, _of(found, "empathetic").alpha.low) == (
            alpha.estimate,
            alpha.low,
        )
        assert "nominal" in _of(found, "empathetic").alpha.method
        assert "ordinal" in _of(found, "consistent").alpha.method

    def test_draws_all_turns_of_a_text_together(self):
        rng = np.random.default_rng(4)
        turn, dialogue = np.tile([0, 0, 1, 1, 2, 2], 40), np.repeat(np.arange(40), 6)
        value = (rng.random(40)[dialogue] + 0.2 * rng.normal(size=240) > 0.5).astype(float)
        annotator, text = np.tile([0, 1], 120), dialogue // 2
        values = MeasuredValues("turns", "turn", dialogue, turn, annotator, value)
        dialogues = Dialogues(("a", "b"), np.arange(40) % 2, np.arange(40) // 2)
        found = assess([values], _values("quality", rng.normal(size=40)), dialogues).measures[0].alpha
        expected = bootstrap_alpha(dialogue * 3 + turn, value, cluster=text, annotator=annotator)
        assert (found.estimate, found.low, found.n) == (expected.estimate, expected.low, 120)

    def test_needs_two_annotators_of_one_item(self):
        _, outcome = _study()
        measure = _values("alone", np.arange(N) % 5, annotator=np.zeros(N, dtype=int))
        found = _of(assess([measure], outcome, _dialogues()), "alone")
        assert (found.alpha.estimate, found.alpha.reason) == (None, "no unit has two values")
        assert found.reason == "alpha: no unit has two values"
        assert found.r2 is not None


class TestSensitivity:
    def test_counts_pairs_of_bots_by_the_suite_s_own_test(self, found):
        measures, _ = _study()
        values = measures["consistent"]
        ratings = Ratings(_dialogues().bots, values.dialogue % BOTS, values.dialogue, values.who, values.value)
        p_values = [each.p_adjusted for each in rating_differences(ratings)]
        expected = {level: sum(known(p) < float(level) for p in p_values) for level in ("0.1", "0.05", "0.01")}
        assert _of(found, "consistent").pairs_told_apart == expected
        assert 0 < expected["0.1"] <= 6

    def test_has_the_published_test_beside_it(self, found):
        assert known(_of(found, "consistent").published).method == "t tests, 30 dialogues of each bot, as published"
        assert (
            known(_of(found, "empathetic").published).method
            == "z tests of proportions, 30 dialogues of each bot, as published"
        )


class TestStepwise:
    def test_begins_with_all_measures_that_vary(self, found):
        assert found.stepwise[0].removed is None
        assert set(found.stepwise[0].left) == {"consistent", "empathetic", "noise"}
        assert [len(step.left) for step in found.stepwise] == [3, 2, 1]

    def test_uses_dialogues_that_have_all_measures(self):
        measures, outcome = _study()
        part = measures["noise"]
        part = _values("noise", part.value[:100], part.dialogue[:100], part.who[:100])
        found = assess([measures["consistent"], part], outcome, _dialogues())
        assert found.stepwise_n == 50

    def test_keeps_the_set_with_the_largest_adjusted_r2_less_measures_whose_alpha_may_be_0(self, found):
        best = max(found.stepwise, key=lambda step: known(step.adjusted_r2))
        alpha = _of(found, "noise").alpha
        assert known(alpha.low) < 0 < known(alpha.high)
        assert found.keep == tuple(name for name in best.left if name != "noise")

    def test_too_many_measures_are_a_sentence(self):
        rng = np.random.default_rng(0)
        _, outcome = _study()
        found = assess([_values(f"m{at}", rng.normal(size=N)) for at in range(81)], outcome, _dialogues())
        assert found.stepwise == ()
        assert found.stepwise_reason == "81 measures are too many, at most 80 can be taken together"
        assert all(each.r2 is not None for each in found.measures)

    def test_too_many_dialogues_of_an_outcome_with_two_values_are_a_sentence(self, monkeypatch):
        monkeypatch.setattr("spotthebot.analytics.assessments.domain.assessment._MAX_LOGISTIC", 4 * N - 1)
        measures, outcome = _study()
        chosen = [measures["consistent"], measures["noise"]]
        found = assess(chosen, _values("liked", outcome.value > 3), _dialogues())
        assert (
            found.stepwise_reason == f"{N} dialogues are too many to take 2 measures together, at most {N - 1} can be"
        )
        assert found.sentences[0] == f"No measure can be recommended: {found.stepwise_reason}."
        assert assess(chosen, outcome, _dialogues()).stepwise_reason is None


class TestSentences:
    """Twelve measures: one explains the outcome, the others are noise."""

    @staticmethod
    def _assessed(n: int) -> Assessment:
        rng = np.random.default_rng(5)
        truth = rng.normal(size=n)
        noise = [_values(f"noise-{at:02}", rng.normal(size=n), np.arange(n)) for at in range(11)]
        good = _values("good", truth + 0.3 * rng.normal(size=n), np.arange(n))
        return assess([good, *noise], _values("quality", truth, np.arange(n)), _dialogues(n))

    def test_warn_of_many_measures_of_few_dialogues(self):
        """The mean R² of 12 measures without effect is 12 / (25 - 1) of 25 dialogues."""
        warning = "But 12 measures of 25 dialogues would explain 50% of quality by chance alone"
        assert warning in self._assessed(25).sentences[0]
        rng = np.random.default_rng(1)
        draws = [
            np.linalg.lstsq(np.column_stack([np.ones(25), rng.normal(size=(25, 12))]), y, rcond=None)[1][0]
            / np.sum((y - y.mean()) ** 2)
            for y in rng.normal(size=(2000, 25))
        ]
        assert 1 - np.mean(draws) == pytest.approx(12 / 24, abs=0.01)
        assert "by chance alone" not in self._assessed(200).sentences[0]

    def test_name_all_measures_that_add_nothing_together(self):
        found = self._assessed(200)
        assert "good" in found.keep
        (together,) = [each for each in found.sentences if "nothing to what the others say of quality" in each]
        left_out = [each for each in found.measures if each.name not in found.keep]
        assert len(left_out) > 3
        for each in left_out:
            assert f"{each.name} ({known(each.r2):.0%})" in together


class TestReason:
    def test_is_there_for_a_measure_without_positives(self, found):
        measure = _of(found, "antisocial")
        assert (measure.r2, measure.p_value, measure.alpha.estimate, measure.published) == (None, None, None, None)
        assert measure.pairs_told_apart == {"0.1": None, "0.05": None, "0.01": None}
        assert known(measure.reason).startswith("the measure is 0 throughout: no dialogue is positive")
        assert "antisocial cannot be assessed: the measure is 0 throughout" in " ".join(found.sentences)

    def test_is_there_for_a_measure_that_separates_the_outcome(self):
        _, outcome = _study()
        liked = (outcome.value > 3).astype(float)
        found = assess(
            [_values("same", liked), _values("noise", np.arange(N) % 7)], _values("liked", liked), _dialogues()
        )
        assert _of(found, "same").r2 is None
        assert "separated" in known(_of(found, "same").reason)
        assert found.stepwise[0].left == ("noise",)

    def test_is_there_for_an_outcome_that_does_not_vary(self):
        measures, _ = _study()
        found = assess(list(measures.values()), _values("quality", np.full(N, 3.0)), _dialogues())
        assert {each.r2 for each in found.measures} == {None}
        assert _of(found, "noise").reason == "the outcome does not vary"
        assert found.keep == ()
        assert found.sentences[0] == "No measure can be recommended: no measure explains quality."

    def test_is_there_for_dialogues_without_an_outcome(self):
        measure = _values("noise", np.arange(60) % 5, np.arange(60))
        outcome = _values("quality", np.arange(60) % 4, np.arange(60, 120))
        found = assess([measure], outcome, _dialogues())
        assert (_of(found, "noise").n, _of(found, "noise").r2) == (0, None)
        assert "a model needs 3 dialogues with both the measure and the outcome, and there are none" in known(
            _of(found, "noise").reason
        )

    def test_is_there_for_the_alpha_of_one_annotator_who_rated_everything(self):
        rng = np.random.default_rng(2)
        one = np.zeros(N, dtype=int)
        measure, outcome = (
            _values("m", rng.normal(size=N), annotator=one),
            _values("q", rng.normal(size=N), annotator=one),
        )
        found = _of(assess([measure], outcome, _dialogues()), "m")
        assert found.p_value is not None
        assert "for this panel of annotators and no other" in found.method
        assert found.alpha.estimate is None

    def test_is_a_sentence_where_no_set_explains_more_than_chance(self):
        outcome = _values("quality", np.arange(8) % 2)
        found = assess([_values("noise", np.arange(8) // 2 + 0.01 * (np.arange(8) % 2))], outcome, _dialogues(8))
        assert found.sentences[0].startswith("No measure explains more of quality than chance would")


class TestLargeValues:
    @pytest.mark.filterwarnings("error")
    def test_are_those_of_small_ones(self):
        measures, outcome = _study()
        names = ("consistent", "noise")
        small, large = (
            assess(
                [_values(name, (measures[name].value - 3.25) * unit, measures[name].dialogue) for name in names],
                _values("quality", outcome.value * unit),
                _dialogues(),
            )
            for unit in (1.0, 2.0**1020)
        )
        assert [each.r2 for each in large.measures] == [each.r2 for each in small.measures]
        assert [each.pairs_told_apart for each in large.measures] == [each.pairs_told_apart for each in small.measures]
        assert [each.published for each in large.measures] == [each.published for each in small.measures]


class TestSettings:
    def test_a_seed_decides_the_bootstrap_and_the_draws(self):
        measures, outcome = _study()
        uneven = Dialogues(("a", "b"), (np.arange(N) % 3 > 0).astype(int), np.arange(N))
        one, same, other = (
            assess([measures["noise"]], outcome, uneven, AssessmentSettings(seed=seed)) for seed in (1, 1, 2)
        )
        assert one == same
        assert one.measures[0].alpha.low != other.measures[0].alpha.low
        assert one.measures[0].published != other.measures[0].published

    def test_many_different_values_have_the_interval_without_a_bootstrap(self):
        rng = np.random.default_rng(1)
        dialogue = np.repeat(np.arange(6000), 2)
        who = rng.integers(0, 40, size=12000)
        measure = _values("score", rng.normal(size=6000)[dialogue] + rng.normal(size=12000), dialogue, who)
        outcome = _values("quality", rng.normal(size=6000))
        alpha = assess([measure], outcome, _dialogues(6000)).measures[0].alpha
        assert known(alpha.low) < known(alpha.estimate) < known(alpha.high)
        assert "BCa" not in alpha.method
