"""Krippendorff's alpha with 10,000 BCa resamples of dialogues, against the package `krippendorff` in a loop."""

import krippendorff
import numpy as np

from benchmarks.analytics.measurement import Measurement, timed
from spotthebot.analytics.stats.alpha_bootstrap import bootstrap_alpha

DIALOGUES, TURNS, RESAMPLES = 108, 1634, 10_000
_RIVAL_RESAMPLES = 100
TOY = {"DIALOGUES": 10, "TURNS": 100, "RESAMPLES": 200, "_RIVAL_RESAMPLES": 2}


def measure() -> list[Measurement]:
    """Two raters of a binary behaviour, as many turns and dialogues as ABC-Eval annotated doubly."""
    rng = np.random.default_rng(0)
    dialogue = np.sort(rng.integers(DIALOGUES, size=TURNS))
    true = rng.random(TURNS) < 0.2
    ratings = np.array([np.where(rng.random(TURNS) < 0.9, true, ~true) for _ in range(2)]).astype(float)
    unit, cluster = np.tile(np.arange(TURNS), 2), np.tile(dialogue, 2)
    alpha, seconds = timed(
        lambda: bootstrap_alpha(unit, ratings.ravel(), cluster=cluster, n_resamples=RESAMPLES), repeats=3
    )
    rows = [np.flatnonzero(dialogue == each) for each in np.unique(dialogue)]
    whole = krippendorff.alpha(reliability_data=ratings, level_of_measurement="nominal")

    def loop() -> list[float]:
        found = []
        for _ in range(_RIVAL_RESAMPLES):
            drawn = np.concatenate([rows[at] for at in rng.integers(len(rows), size=len(rows))])
            found.append(krippendorff.alpha(reliability_data=ratings[:, drawn], level_of_measurement="nominal"))
        return found

    _, rival_seconds = timed(loop)
    rival = rival_seconds * RESAMPLES / _RIVAL_RESAMPLES
    apart = abs((alpha.estimate or 0.0) - whole)
    return [
        Measurement(
            work=f"alpha of {TURNS:,} turns, {RESAMPLES:,} BCa resamples of {DIALOGUES} dialogues",
            rival="`krippendorff` in a loop",
            seconds=seconds,
            rival_seconds=rival,
            scaled=f"from {_RIVAL_RESAMPLES} resamples, without its jackknife",
            agreement=f"alpha within {apart:.0e}",
            goal=">= 70x",
            reached=rival / seconds >= 70 and apart < 1e-12,
        )
    ]
