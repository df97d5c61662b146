"""TrueSkill of 4,050 matches x 1,000 bootstrap replicates, against a loop over the package `trueskill`."""

from functools import partial

import numpy as np
import trueskill

from benchmarks.analytics.measurement import Measurement, timed
from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.trueskill_updates import SkillSettings, draw_margin, play_matches

BOTS, MATCHES, REPLICATES, TIES = 6, 4050, 1000, 0.7
_RIVAL_REPLICATES = {"scipy": 1, None: 3}
TOY = {"MATCHES": 20, "REPLICATES": 2, "_RIVAL_REPLICATES": {"scipy": 1, None: 1}}


def measure() -> list[Measurement]:
    """Play the same matches by the package with its exact backend and with its default one."""
    first, second, outcome = _matches(np.random.default_rng(0))
    rows = np.random.default_rng(1).integers(MATCHES, size=(MATCHES, REPLICATES))
    winner, loser = np.where(outcome < 0, second, first)[rows], np.where(outcome < 0, first, second)[rows]
    drawn = (outcome == 0)[rows]
    settings = SkillSettings()
    margin = draw_margin(TIES, settings.beta)
    (mu, sigma), seconds = timed(
        lambda: play_matches(winner, loser, drawn, settings.priors(BOTS), margin=margin, settings=settings), repeats=3
    )
    measurements = []
    for backend, n in _RIVAL_REPLICATES.items():
        played, rival_seconds = timed(partial(_loops, (first, second, outcome), rows[:, :n], backend))
        apart = max(
            float(np.abs(np.array(ratings) - np.column_stack([mu[:, at], sigma[:, at]])).max())
            for at, ratings in enumerate(played)
        )
        rival = rival_seconds * REPLICATES / n
        exact = backend == "scipy"
        measurements.append(
            Measurement(
                work=f"TrueSkill, {MATCHES:,} matches x {REPLICATES:,} replicates",
                rival=f"`trueskill` loop, {'scipy' if exact else 'default'} backend",
                seconds=seconds,
                rival_seconds=rival,
                scaled=f"from {n} replicate{'s' if n > 1 else ''}",
                agreement=f"mu and sigma within {apart:.0e}",
                goal=">= 1,000x, equal to 1e-9" if exact else "-",
                reached=not exact or (rival / seconds >= 1000 and apart < 1e-9),
            )
        )
    return measurements


def _matches(rng: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
    pairs = np.array(np.triu_indices(BOTS, 1)).T
    first, second = pairs[rng.integers(len(pairs), size=MATCHES)].T
    stronger = rng.random(MATCHES) < 0.5 + 0.1 * (second - first)
    outcome = np.where(rng.random(MATCHES) < TIES, 0, np.where(stronger, -1, 1))
    return first, second, outcome


def _loops(games: tuple[IntArray, IntArray, IntArray], rows: IntArray, backend: str | None) -> list[FloatArray]:
    first, second, outcome = games
    return [_loop(first[drawn], second[drawn], outcome[drawn], backend) for drawn in rows.T]


def _loop(first: IntArray, second: IntArray, outcome: IntArray, backend: str | None) -> FloatArray:
    environment = trueskill.TrueSkill(tau=0, draw_probability=TIES, backend=backend)
    ratings = [environment.create_rating() for _ in range(BOTS)]
    for a, b, result in zip(first.tolist(), second.tolist(), outcome.tolist(), strict=True):
        if result < 0:
            ratings[b], ratings[a] = trueskill.rate_1vs1(ratings[b], ratings[a], env=environment)
        else:
            ratings[a], ratings[b] = trueskill.rate_1vs1(ratings[a], ratings[b], drawn=result == 0, env=environment)
    return np.array([[rating.mu, rating.sigma] for rating in ratings])
