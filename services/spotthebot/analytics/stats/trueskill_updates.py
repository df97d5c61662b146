"""TrueSkill's update for two players, in many independent sequences at once. A step plays one match of each sequence.

The method is that of Herbrich, Minka & Graepel 2006. A win truncates the difference of the performances to (margin,
inf), a draw to (-margin, margin). Both are doubly truncated normal distributions, so one formula handles wins and
draws.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.statistics.errors import SettingOutOfRange

_FAR: Final = -40.0
"""Below this, the standard normal distribution has no mass in double precision."""
_PEAK: Final = 1 / math.sqrt(2 * math.pi)


@dataclass(frozen=True, eq=False)
class Priors:
    """The belief about k players before any match: the skill of each is N(mu, sigma²). Both arrays are (k,)."""

    mu: FloatArray
    sigma: FloatArray


@dataclass(frozen=True)
class SkillSettings:
    """The prior N(mu, sigma²) of a skill, the spread beta of a performance, and the drift tau between two matches.

    Bots do not learn between matches, so tau is 0 by default. With the usual tau, most of a rating's variance comes
    from the order of the matches. If `draw_probability` is None, it is estimated from the games.
    """

    mu: float = 25.0
    sigma: float = 25.0 / 3
    beta: float = 25.0 / 6
    tau: float = 0.0
    draw_probability: float | None = None

    def __post_init__(self) -> None:
        for setting in ("sigma", "beta"):
            if not 0 < getattr(self, setting) < math.inf:
                raise SettingOutOfRange(setting=setting, allowed="a number above 0", value=getattr(self, setting))
        if not 0 <= self.tau < math.inf:
            raise SettingOutOfRange(setting="tau", allowed="a number from 0", value=self.tau)
        if not math.isfinite(self.mu):
            raise SettingOutOfRange(setting="mu", allowed="a number", value=self.mu)
        if self.draw_probability is not None and not 0 <= self.draw_probability < 1:
            raise SettingOutOfRange(
                setting="draw_probability", allowed="0 or more, below 1", value=self.draw_probability
            )

    def priors(self, k: int) -> Priors:
        """Return the same prior for each of k players."""
        return Priors(np.full(k, float(self.mu)), np.full(k, float(self.sigma)))


def draw_margin(draw_probability: float, beta: float) -> float:
    """Return the difference of performances below which a match between two players is a draw.

    >>> round(draw_margin(0.10, 25 / 6), 4)  # 2 * Phi(margin / (sqrt(2) * beta)) - 1 = 0.10
    0.7405
    """
    return float(scipy.special.ndtri((draw_probability + 1) / 2)) * math.sqrt(2) * beta


def play_matches(
    winner: IntArray, loser: IntArray, drawn: BoolArray, priors: Priors, *, margin: float, settings: SkillSettings
) -> tuple[FloatArray, FloatArray]:
    """Return mu and sigma of k players, (k, R) each, after R sequences of m matches.

    Matches are given as (m, R) arrays.

    Each sequence starts with the `priors`. In a match that is `drawn`, `winner` and `loser` are simply the two players.
    A shorter sequence is filled up with matches of a player against itself, which change nothing.

    >>> one = np.zeros((1, 1), dtype=np.int64)
    >>> settings = SkillSettings(tau=25 / 300)
    >>> margin = draw_margin(0.1, 25 / 6)
    >>> mu, sigma = play_matches(one, one + 1, one > 0, settings.priors(2), margin=margin, settings=settings)
    >>> mu.round(3).tolist(), sigma.round(3).tolist()  # Herbrich et al.'s example: 29.396 and 20.604, 7.171
    ([[29.396], [20.604]], [[7.171], [7.171]])
    """
    (m, r), k = winner.shape, len(priors.mu)
    mu, variance = np.repeat(priors.mu, r), np.repeat(priors.sigma**2, r)
    noise, drift = 2 * settings.beta**2, settings.tau**2
    columns = np.arange(r)
    for step in range(m):
        a, b = winner[step] * r + columns, loser[step] * r + columns
        mu_a, mu_b, var_a, var_b = mu[a], mu[b], variance[a], variance[b]
        if drift:
            var_a += drift
            var_b += drift
        c = np.sqrt(var_a + var_b + noise)
        t = (mu_a - mu_b) / c
        v, w = truncation(t, margin / c, drawn[step])
        real = a != b
        v *= real
        w *= real
        v /= c
        c *= c
        w /= c
        mu[a] = mu_a + var_a * v
        mu[b] = mu_b - var_b * v
        # In a match of a player against itself, the second assignment must not apply the drift either.
        variance[a] = np.where(real, var_a * (1 - var_a * w), variance[a]) if drift else var_a * (1 - var_a * w)
        variance[b] = np.where(real, var_b * (1 - var_b * w), variance[b]) if drift else var_b * (1 - var_b * w)
    return mu.reshape(k, r), np.sqrt(variance).reshape(k, r)


def truncation(t: FloatArray, margin: FloatArray, drawn: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return by how much the truncation changes the mean (v), and the share of the variance that it removes (w)."""
    distance = np.abs(t)
    upper = np.where(drawn, margin - distance, t - margin)
    lower = np.where(drawn, -margin - distance, _FAR)
    mass = scipy.special.ndtr(upper)
    mass -= scipy.special.ndtr(lower)
    peak_upper, peak_lower = np.exp(-0.5 * upper * upper), np.exp(-0.5 * lower * lower)
    sure = mass > 0
    mass[~sure] = 1.0
    mass /= _PEAK
    v = (peak_lower - peak_upper) / mass
    w = (upper * peak_upper - lower * peak_lower) / mass
    w += v * v
    if not sure.all():
        # In the far tail, all mass of the truncated normal is at its end.
        v[~sure], w[~sure] = upper[~sure], 1.0
    np.minimum(w, 1.0, out=w)
    v *= np.where(drawn, np.sign(t), -1.0)
    return v, w
