import itertools

import numpy as np
import pytest

from spotthebot.analytics.stats import Clusters, Observations, SettingOutOfRange
from spotthebot.analytics.stats.assessment.importance import Importance, Model, importance
from tests.factories.known import known
from tests.factories.lazy_imports import lazily

sm = lazily("statsmodels.api")
chi2 = lazily("scipy.stats:chi2")


def _alone(n):
    return Observations(conversation=np.arange(n), annotator=np.arange(n))


def _rated(n=120, people=30, seed=0):
    """Return outcomes of dialogues that few people rated, a measure, and who rated each."""
    rng = np.random.default_rng(seed)
    person = rng.permutation(np.arange(n) % people)
    measure = rng.normal(size=n) + rng.normal(size=people)[person]
    outcome = 3 + 0.4 * measure + rng.normal(size=people)[person] + rng.normal(size=n)
    return outcome, measure, person


def _error(found: Importance) -> float:
    return known(known(found.uncertainty).standard_error)


class TestLinearModel:
    def test_is_least_squares_of_statsmodels(self):
        outcome, measure, _ = _rated()
        found = importance(outcome, measure, _alone(120), clusters=Clusters.CONVERSATION)
        fitted = sm.OLS(outcome, sm.add_constant(measure)).fit()
        assert found.estimate == pytest.approx(fitted.rsquared, abs=1e-12)
        assert found.coefficient == pytest.approx(fitted.params[1], abs=1e-12)
        assert found.published_p_value == pytest.approx(fitted.f_pvalue, rel=1e-9)

    def test_robust_error_is_near_the_sandwich_of_statsmodels_for_many_clusters(self):
        outcome, measure, person = _rated(n=2000, people=500)
        found = importance(outcome, measure, Observations(person, person), clusters=Clusters.CONVERSATION)
        fitted = sm.OLS(outcome, sm.add_constant(measure)).fit(cov_type="cluster", cov_kwds={"groups": person})
        assert _error(found) == pytest.approx(fitted.bse[1], rel=0.03)

    @pytest.mark.parametrize("model", [Model.LINEAR, Model.LOGISTIC])
    def test_variance_is_near_the_jackknife_of_people(self, model):
        outcome, measure, person = _rated()
        if model is Model.LOGISTIC:
            outcome = (outcome > 3).astype(float)
        who = Observations(np.arange(120), person)
        found = importance(outcome, measure, who, model=model, clusters=Clusters.ANNOTATOR)
        slopes = np.array(
            [model.explained(outcome[person != out], measure[person != out, None]).coefficients[1] for out in range(30)]
        )
        jackknife = np.sum((slopes - found.coefficient) ** 2) * 29 / 30
        assert _error(found) ** 2 == pytest.approx(jackknife, rel=0.12)

    def test_people_who_rate_many_outcomes_make_it_less_certain(self):
        outcome, measure, person = _rated(people=12)
        shared = importance(outcome, measure, Observations(np.arange(120), person))
        alone = importance(outcome, measure, _alone(120), clusters=Clusters.CONVERSATION)
        assert _error(shared) > 1.5 * _error(alone)
        assert known(shared.p_value) > 10 * known(alone.p_value)

    @pytest.mark.parametrize("unit", [1e-9, 1e9])
    def test_does_not_depend_on_the_unit_of_a_measure(self, unit):
        outcome, measure, person = _rated()
        who = Observations(np.arange(120), person)
        one, other = importance(outcome, measure, who), importance(outcome, measure * unit, who)
        assert (other.estimate, other.p_value) == pytest.approx((one.estimate, one.p_value), rel=1e-6)

    def test_a_measure_that_is_the_outcome_explains_all_of_it(self):
        outcome, _, person = _rated()
        found = importance(outcome, outcome, Observations(np.arange(120), person))
        assert found.estimate == pytest.approx(1)
        assert known(found.p_value) < 1e-12


class TestLogisticModel:
    def test_is_the_logistic_regression_of_statsmodels(self):
        outcome, measure, _ = _rated()
        outcome = (outcome > 3).astype(float)
        found = importance(outcome, measure, _alone(120), model=Model.LOGISTIC, clusters=Clusters.CONVERSATION)
        fitted = sm.Logit(outcome, sm.add_constant(measure)).fit(disp=0)
        assert found.estimate == pytest.approx(fitted.prsquared, abs=1e-9)
        assert found.published_p_value == pytest.approx(fitted.llr_pvalue, rel=1e-6)

    def test_robust_error_is_near_the_sandwich_of_statsmodels(self):
        outcome, measure, person = _rated(n=2000, people=500)
        outcome = (outcome > 3).astype(float)
        who = Observations(person, person)
        found = importance(outcome, measure, who, model=Model.LOGISTIC, clusters=Clusters.CONVERSATION)
        fitted = sm.Logit(outcome, sm.add_constant(measure)).fit(
            disp=0, cov_type="cluster", cov_kwds={"groups": person}
        )
        assert _error(found) == pytest.approx(fitted.bse[1], rel=0.03)

    def test_separated_outcomes_have_no_number(self):
        found = importance([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], _alone(4), model=Model.LOGISTIC)
        assert (found.estimate, found.p_value, found.reason) == (None, None, "the outcomes are separated")


class TestDifferencesWithinPairs:
    def test_are_statsmodels_without_an_intercept(self):
        rng = np.random.default_rng(3)
        difference = rng.normal(size=200)
        preferred = (rng.random(200) < 1 / (1 + np.exp(-0.8 * difference))).astype(float)
        found = importance(preferred, difference, _alone(200), model=Model.WITHIN_PAIRS, clusters=Clusters.CONVERSATION)
        fitted = sm.Logit(preferred, difference[:, None]).fit(disp=0)
        null = 200 * np.log(0.5)
        assert found.estimate == pytest.approx(1 - fitted.llf / null, abs=1e-9)
        assert found.coefficient == pytest.approx(fitted.params[0], abs=1e-6)
        assert found.published_p_value == pytest.approx(chi2.sf(2 * (fitted.llf - null), 1), rel=1e-6)

    def test_do_not_depend_on_which_dialogue_is_called_first(self):
        rng = np.random.default_rng(4)
        difference = rng.normal(size=60) + 0.5
        preferred = (rng.random(60) < 0.6).astype(float)
        swapped = rng.random(60) < 0.5
        who = Observations(np.arange(60), np.arange(60) % 9)
        one = importance(preferred, difference, who, model=Model.WITHIN_PAIRS)
        other = importance(
            np.where(swapped, 1 - preferred, preferred),
            np.where(swapped, -difference, difference),
            who,
            model=Model.WITHIN_PAIRS,
        )
        assert (one.estimate, one.p_value) == pytest.approx((other.estimate, other.p_value), rel=1e-9)


class TestReason:
    @pytest.mark.parametrize(
        ("measure", "reason"),
        [
            ([0, 0, 0, 0], "the measure is 0 throughout: no dialogue is positive"),
            ([2, 2, 2, 2], "the measure does not vary"),
        ],
    )
    @pytest.mark.parametrize("model", [Model.LINEAR, Model.LOGISTIC])
    def test_is_there_for_a_constant_measure(self, measure, reason, model):
        found = importance([0, 1, 0, 1], measure, _alone(4), model=model)
        assert (found.estimate, found.p_value, found.reason) == (None, None, reason)

    def test_is_there_for_pairs_that_do_not_differ(self):
        found = importance([0, 1, 0], [0, 0, 0], _alone(3), model=Model.WITHIN_PAIRS)
        assert found.reason == "the measure does not differ within any pair"

    def test_is_there_for_an_outcome_that_does_not_vary(self):
        assert importance([4, 4, 4], [1, 2, 4], _alone(3)).reason == "the outcome does not vary"

    @pytest.mark.parametrize("n", [0, 1, 2])
    def test_is_there_for_two_dialogues_or_fewer(self, n):
        expected = f"a model needs 3 dialogues with both the measure and the outcome, and there are {n or 'none'}"
        assert importance(range(n), range(n), _alone(n)).reason == expected

    def test_is_there_for_the_p_value_of_one_person(self):
        found = importance([1, 2, 4, 3], [1, 2, 3, 5], Observations(np.arange(4), np.zeros(4, dtype=int)))
        assert found.estimate is not None
        assert found.p_value is None
        assert "one annotator" in known(found.reason)

    def test_is_there_for_columns_of_different_length(self):
        with pytest.raises(SettingOutOfRange, match="columns of one length"):
            importance([1, 2, 3], [1, 2], _alone(3))


def test_every_model_describes_itself():
    methods = {importance([0, 1, 0, 1], [1, 2, 2, 1], _alone(4), model=model).method for model in Model}
    assert all(one != other for one, other in itertools.pairwise(sorted(methods)))
