import itertools

import numpy as np
import pytest

from spotthebot.analytics.stats import SettingOutOfRange
from spotthebot.analytics.stats.assessment.importance import Model
from spotthebot.analytics.stats.assessment.subsets import MAX_MEASURES, backward_stepwise
from tests.factories.known import known
from tests.factories.lazy_imports import lazily

sm = lazily("statsmodels.api")


def _measured(n=150, p=6, seed=0, outcome="value"):
    """Return an outcome and p related measures, most of which tell something about it."""
    rng = np.random.default_rng(seed)
    measures = rng.normal(size=(n, p)) @ (np.eye(p) + 0.4 * rng.normal(size=(p, p)))
    value = measures @ rng.normal(size=p) * 0.2 + rng.normal(size=n)
    return value if outcome == "value" else (value > 0).astype(float), measures


def _adjusted(model, r2, outcome, n, size):
    if model is Model.LINEAR:
        return 1 - (1 - r2) * (n - 1) / (n - size - 1)
    share = 0.5 if model is Model.WITHIN_PAIRS else outcome.mean()
    null = np.sum(outcome) * np.log(share) + np.sum(1 - outcome) * np.log(1 - share)
    return r2 + size / null


class TestBackwardStepwise:
    @pytest.mark.parametrize("model", list(Model))
    @pytest.mark.parametrize("seed", range(3))
    def test_has_the_best_of_all_subsets(self, model, seed):
        outcome, measures = _measured(seed=seed, outcome="value" if model is Model.LINEAR else "choice")
        found = backward_stepwise(outcome, measures, model=model)
        assert [len(step.left) for step in found.steps] == [6, 5, 4, 3, 2, 1]
        for step in found.steps:
            best, left = max(
                (model.explained(outcome, measures[:, each]).estimate, each)
                for each in itertools.combinations(range(6), len(step.left))
            )
            assert step.left == left
            assert step.r2 == pytest.approx(best, abs=1e-9)
            assert step.adjusted_r2 == pytest.approx(_adjusted(model, best, outcome, 150, len(left)), abs=1e-9)

    def test_has_the_best_of_all_subsets_of_twelve_measures(self):
        outcome, measures = _measured(p=12, seed=5)
        related, with_outcome = np.corrcoef(measures.T), np.corrcoef(measures.T, outcome)[-1, :-1]
        for step in backward_stepwise(outcome, measures, beam=1).steps:
            every = np.array(list(itertools.combinations(range(12), len(step.left))))
            solved = np.linalg.solve(related[every[:, :, None], every[:, None, :]], with_outcome[every][:, :, None])
            r2 = np.sum(solved[:, :, 0] * with_outcome[every], axis=1)
            assert step.r2 == pytest.approx(r2.max(), abs=1e-9)

    @pytest.mark.parametrize("model", list(Model))
    def test_is_the_beam_search_written_out_for_many_measures(self, model):
        outcome, measures = _measured(n=120, p=13, seed=7, outcome="value" if model is Model.LINEAR else "choice")
        found = backward_stepwise(outcome, measures, model=model, beam=3)
        beam = [tuple(range(13))]
        for step in found.steps[1:]:
            left = {tuple(c for c in each if c != out) for each in beam for out in each}
            beam = sorted(left, key=lambda each: -model.explained(outcome, measures[:, each]).estimate)[:3]
            assert step.left == beam[0]

    def test_begins_with_the_full_model_of_statsmodels(self):
        outcome, measures = _measured()
        first = backward_stepwise(outcome, measures).steps[0]
        fitted = sm.OLS(outcome, sm.add_constant(measures)).fit()
        assert (first.r2, first.adjusted_r2) == pytest.approx((fitted.rsquared, fitted.rsquared_adj), abs=1e-12)
        assert (first.left, first.removed) == ((0, 1, 2, 3, 4, 5), None)

    def test_removes_what_tells_nothing_first(self):
        rng = np.random.default_rng(1)
        measures = rng.normal(size=(80, 3))
        found = backward_stepwise(measures[:, 0] + 0.5 * measures[:, 2] + 0.1 * rng.normal(size=80), measures)
        assert [step.removed for step in found.steps] == [None, 1, 2]

    @pytest.mark.parametrize("model", list(Model))
    def test_a_copy_of_a_measure_goes_without_loss(self, model):
        outcome, measures = _measured(p=4, outcome="value" if model is Model.LINEAR else "choice")
        found = backward_stepwise(outcome, np.column_stack([measures, measures[:, 3]]), model=model)
        assert found.steps[1].removed in {3, 4}
        assert found.steps[1].r2 == pytest.approx(found.steps[0].r2, abs=1e-9)
        assert found.steps[1].adjusted_r2 == pytest.approx(found.steps[0].adjusted_r2, abs=1e-9)

    def test_best_is_the_smallest_set_of_the_largest_adjusted_r2(self):
        outcome, measures = _measured(p=4)
        found = backward_stepwise(outcome, np.column_stack([measures, measures[:, 3]]))
        assert len(known(found.best).left) < 5
        assert known(found.best).adjusted_r2 == pytest.approx(max(known(step.adjusted_r2) for step in found.steps))

    def test_separated_outcomes_have_no_steps(self):
        found = backward_stepwise([0, 0, 1, 1], [[1.0], [2.0], [3.0], [4.0]], model=Model.LOGISTIC)
        assert (found.steps, found.best, found.reason) == ((), None, "the outcomes are separated")

    def test_as_many_measures_as_dialogues_have_no_adjusted_r2(self):
        outcome, measures = _measured(n=7, p=6)
        found = backward_stepwise(outcome, measures)
        assert found.steps[0].adjusted_r2 is None
        assert len(known(found.best).left) < 6

    @pytest.mark.parametrize("p", [0, MAX_MEASURES + 1])
    def test_refuses_no_measures_and_too_many(self, p):
        with pytest.raises(SettingOutOfRange, match="p from 1 to 80"):
            backward_stepwise(np.arange(5.0), np.ones((5, p)))
