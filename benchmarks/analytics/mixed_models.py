"""The linear mixed model of ratings against statsmodels' MixedLM, both by REML with crossed random intercepts."""

import warnings
from typing import Any

import numpy as np

from benchmarks.analytics.measurement import Measurement, timed
from benchmarks.analytics.power.rated_studies import RatedStudy, draw_study
from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.mixed_models.cumulative_link import cumulative_link_mixed_model
from spotthebot.analytics.stats.mixed_models.linear import linear_mixed_model
from spotthebot.analytics.stats.rating_estimates import Ratings

DIALOGUES = 100
RATINGS = 2
_BOTS = 4
_ANNOTATORS = 12
_LARGEST_GAP = 1e-3
TOY = {"DIALOGUES": 4, "RATINGS": 4}


def measure() -> list[Measurement]:
    """Fit both to one study. The cumulative link model has no rival in Python, so its row has our time alone."""
    study = RatedStudy(_BOTS, DIALOGUES, _ANNOTATORS, each=RATINGS, strengths=(0.4, 0.1, -0.1, -0.4))
    ratings = draw_study(study, np.random.default_rng(0))
    found, seconds = timed(lambda: linear_mixed_model(ratings), repeats=5)
    rival, rival_seconds = timed(lambda: _statsmodels(ratings))
    estimates = np.array([each.estimate for each in found.bots], dtype=np.float64)
    gap = float(np.abs(estimates - rival).max())
    link, link_seconds = timed(lambda: cumulative_link_mixed_model(ratings), repeats=5)
    values = f"{len(ratings.value):,} ratings of {_BOTS} bots by {_ANNOTATORS} annotators"
    return [
        Measurement(
            work=f"linear mixed model, {values}",
            rival="statsmodels' MixedLM, crossed effects as variance components of one group",
            seconds=seconds,
            rival_seconds=rival_seconds,
            scaled="",
            agreement=f"means within {gap:.0e}",
            goal=f">= 50x, means within {_LARGEST_GAP:g}",
            reached=rival_seconds / seconds >= 50 and gap < _LARGEST_GAP,
        ),
        Measurement(
            work=f"cumulative link mixed model, {values}",
            rival="-",
            seconds=link_seconds,
            rival_seconds=None,
            scaled="",
            agreement="as ordinal::clmm (tests/golden/mixed_models)",
            goal="< 1 s",
            reached=link.reason is None and link_seconds < 1,
        ),
    ]


def _statsmodels(ratings: Ratings) -> FloatArray:
    """Return the bots' means."""
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec  # noqa: PLC0415 - slow to import

    n = len(ratings.value)
    columns: list[Any] = [
        (column[:, None] == np.unique(column)).astype(float) for column in (ratings.item, ratings.annotator)
    ]
    components = VCSpec(
        ["dialogue", "annotator"],
        [[[str(at) for at in range(each.shape[1])]] for each in columns],
        [[each] for each in columns],
    )
    design = (ratings.bot[:, None] == np.arange(len(ratings.bots))).astype(float)
    model = MixedLM(ratings.value, design, np.zeros(n), exog_vc=components)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # toy studies are so small that it warns of a search that it repeats
        fit = model.fit(reml=True)
    return np.asarray(fit.fe_params, dtype=np.float64)
