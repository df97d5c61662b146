"""Backward stepwise regression with a beam of 100 sets, against statsmodels, which fits every candidate.

The last row assesses a million values: alpha, importance, pairs and the stepwise regression.
"""

import resource
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.analytics.measurement import Measurement, timed
from spotthebot.analytics.assessments.domain.assessment import assess
from spotthebot.analytics.stats.assessment.importance import Model
from spotthebot.analytics.stats.assessment.subsets import BEAM, backward_stepwise
from spotthebot.analytics.values.domain.assessed_values import Dialogues, MeasuredValues

DIALOGUES, MEASURES = 400, 16
"""As many as ABC-Eval has."""
VALUES, ASSESSED = 1_000_000, 10
_GOAL = 100
TOY = {"DIALOGUES": 60, "MEASURES": 4, "VALUES": 2000, "ASSESSED": 3}


def measure() -> Iterator[Measurement]:
    """Draw correlated measures and an outcome that depends on some of them."""
    rng = np.random.default_rng(0)
    measures = rng.normal(size=(DIALOGUES, MEASURES)) @ (np.eye(MEASURES) + 0.3 * rng.normal(size=(MEASURES, MEASURES)))
    value = measures @ rng.normal(size=MEASURES) * 0.1 + rng.normal(size=DIALOGUES)
    yield _stepwise(value, measures, Model.LINEAR)
    yield _stepwise((value > 0).astype(float), measures, Model.LOGISTIC)
    yield _million()


def _stepwise(outcome: Any, measures: Any, model: Model) -> Measurement:  # noqa: ANN401 - arrays of either shape
    backward_stepwise(outcome, measures, model=model)
    found, seconds = timed(lambda: backward_stepwise(outcome, measures, model=model), repeats=3)
    (rival, fits), rival_seconds = timed(lambda: _refitted(_fit_of(outcome, measures, model)))
    apart = max(abs(step.r2 - rival[len(step.left)]) for step in found.steps)
    return Measurement(
        work=f"{model} stepwise regression, {MEASURES} measures of {DIALOGUES} dialogues",
        rival=f"statsmodels, {fits:,} fits",
        seconds=seconds,
        rival_seconds=rival_seconds,
        scaled="",
        agreement=f"R² of each size within {apart:.0e}",
        goal=f">= {_GOAL}x",
        reached=rival_seconds / seconds >= _GOAL and apart < 1e-9,
    )


def _fit_of(outcome: Any, measures: Any, model: Model) -> Callable[[tuple[int, ...]], float]:  # noqa: ANN401 - as above
    import statsmodels.api as sm  # noqa: PLC0415 - slow to import

    def fit(left: tuple[int, ...]) -> float:
        design = sm.add_constant(measures[:, left])
        if model is Model.LINEAR:
            return float(sm.OLS(outcome, design).fit().rsquared)
        return float(sm.Logit(outcome, design).fit(disp=0).prsquared)

    return fit


def _refitted(fit: Callable[[tuple[int, ...]], float]) -> tuple[dict[int, float], int]:
    """Return the best R² of each size, and how many models were fitted."""
    beam: list[tuple[int, ...]] = [tuple(range(MEASURES))]
    best, fits = {MEASURES: fit(beam[0])}, 1
    for size in range(MEASURES - 1, 0, -1):
        left = {tuple(each for each in columns if each != out) for columns in beam for out in columns}
        found = {columns: fit(columns) for columns in left}
        beam = sorted(found, key=lambda columns: -found[columns])[:BEAM]
        best[size], fits = found[beam[0]], fits + len(left)
    return best, fits


def _million() -> Measurement:
    rng = np.random.default_rng(1)
    n = VALUES // (2 * ASSESSED + 1)
    dialogue, quality = np.repeat(np.arange(n), 2), rng.normal(size=n)

    def values(name: str, of: Any, value: Any, annotators: int) -> MeasuredValues:  # noqa: ANN401 - as above
        who = rng.integers(0, annotators, size=len(value))
        return MeasuredValues(name, "dialogue", of, np.zeros(len(value), dtype=np.int64), who, value)

    measures = [
        values(f"measure {at}", dialogue, np.clip(np.round(3 + quality[dialogue] + rng.normal(size=2 * n)), 1, 5), 50)
        for at in range(ASSESSED)
    ]
    outcome = values("quality", np.arange(n), np.clip(np.round(3 + quality), 1, 5), 500)
    dialogues = Dialogues(tuple("abcd"), np.arange(n) % 4, np.arange(n))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found, seconds = timed(lambda: assess(measures, outcome, dialogues))
    added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    return Measurement(
        work=f"assessment of {ASSESSED} measures, {VALUES:,} values",
        rival="-",
        seconds=seconds,
        rival_seconds=None,
        scaled="",
        agreement=f"{added:.2f} GiB more at most; keeps {len(found.keep)} measures",
        goal="< 30 s",
        reached=seconds < 30,
    )
