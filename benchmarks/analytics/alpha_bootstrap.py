"""Krippendorff's alpha with 10,000 BCa resamples: of dialogues, as ABC-Eval has it, and of turns, as evalica does.

The rivals are the package `krippendorff` in a loop, which is exact, and evalica (Rust), whose resamples draw pairs of
values, with the disagreement by chance held as it is: it can draw no dialogues, and has no BCa bounds.
"""

import evalica
import krippendorff
import numpy as np
import pandas as pd

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
    of_turns, turns_seconds = timed(lambda: bootstrap_alpha(unit, ratings.ravel(), n_resamples=RESAMPLES), repeats=5)
    table = pd.DataFrame(ratings)
    rust, rust_seconds = timed(lambda: evalica.alpha_bootstrap(table, n_resamples=RESAMPLES, random_state=0), repeats=5)
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
        ),
        Measurement(
            work=f"alpha of {TURNS:,} turns, {RESAMPLES:,} BCa resamples of turns",
            rival="`evalica.alpha_bootstrap`",
            seconds=turns_seconds,
            rival_seconds=rust_seconds,
            scaled="percentiles",
            agreement=f"alpha within {abs((of_turns.estimate or 0.0) - rust.alpha):.0e}",
            goal=">= 10x",
            reached=rust_seconds / turns_seconds >= 10 and abs((of_turns.estimate or 0.0) - rust.alpha) < 1e-12,
        ),
    ]
