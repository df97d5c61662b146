"""TrueSkill ratings of the bots: the closed form of the two-player update, without drift.

Herbrich, Minka & Graepel 2006. Bots do not learn between matches, so tau is 0: with the usual tau the order of the
matches makes most of the variance of a rating. What order is left to matter is averaged out over shuffles.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.wins import Games

_ROOT_TWO = math.sqrt(2)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)


@dataclass(frozen=True)
class SkillSettings:
    """The prior N(mu, sigma²) of a skill and the spread beta of one performance; the defaults are TrueSkill's."""

    mu: float = 25.0
    sigma: float = 25.0 / 3
    beta: float = 25.0 / 6

    def __post_init__(self) -> None:
        for setting in ("sigma", "beta"):
            if not getattr(self, setting) > 0:
                raise SettingOutOfRange(setting=setting, allowed="above 0", value=getattr(self, setting))


@dataclass(frozen=True)
class Skill:
    """One bot's rating over `n` games.

    `order_spread` is the standard deviation, over the match orders, of mu less the mean mu of all bots: the common
    level wanders with the order too, but tells nothing of who is better.
    """

    bot: str
    mu: float
    sigma: float
    order_spread: float
    n: int


@dataclass(frozen=True)
class SkillRatings:
    """Ratings in the order of the bots, with the draw probability that the games showed."""

    bots: tuple[Skill, ...]
    draw_probability: float
    settings: SkillSettings
    n: int
    n_shuffles: int
    method: str
    seed: int


_DEFAULT_SETTINGS = SkillSettings()


def rate_skills(
    games: Games, *, n_shuffles: int = 10, seed: int = 0, settings: SkillSettings = _DEFAULT_SETTINGS
) -> SkillRatings:
    """Play all games once in each of `n_shuffles` random orders and average mu and sigma.

    The draw probability is the share of ties. If all games are ties a tie tells nothing, and every bot keeps the prior.
    """
    if n_shuffles < 1:
        raise SettingOutOfRange(setting="n_shuffles", allowed="1 or more", value=n_shuffles)
    k, m = len(games.bots), len(games)
    draw_probability = float(np.mean(games.outcome == 0)) if m else 0.0
    generator = np.random.default_rng(seed)
    mu, sigma = np.full((n_shuffles, k), settings.mu), np.full((n_shuffles, k), settings.sigma)
    if draw_probability < 1:
        margin = float(ndtri((draw_probability + 1) / 2)) * _ROOT_TWO * settings.beta
        matches = np.column_stack([games.first, games.second, games.outcome])
        for shuffle in range(n_shuffles):
            order = matches[generator.permutation(m)].tolist()
            mu[shuffle], sigma[shuffle] = play_in_order(order, k, margin, settings)
    relative = mu - mu.mean(axis=1, keepdims=True) if k else mu
    played = np.bincount(games.first, minlength=k) + np.bincount(games.second, minlength=k)
    return SkillRatings(
        bots=tuple(
            Skill(
                bot=bot,
                mu=float(mu[:, i].mean()),
                sigma=float(sigma[:, i].mean()),
                order_spread=float(relative[:, i].std()),
                n=int(played[i]),
            )
            for i, bot in enumerate(games.bots)
        ),
        draw_probability=draw_probability,
        settings=settings,
        n=m,
        n_shuffles=n_shuffles,
        method="TrueSkill, tau 0, mean over shuffled orders",
        seed=seed,
    )


def play_in_order(
    matches: list[list[int]], k: int, margin: float, settings: SkillSettings
) -> tuple[FloatArray, FloatArray]:
    """Update k bots match by match, each match (first, second, outcome): their mu and sigma afterwards, (k,) each."""
    mu, variance = [settings.mu] * k, [settings.sigma**2] * k
    noise = 2 * settings.beta**2
    for first, second, outcome in matches:
        winner, loser = (first, second) if outcome >= 0 else (second, first)
        c = math.sqrt(noise + variance[winner] + variance[loser])
        t, e = (mu[winner] - mu[loser]) / c, margin / c
        v, w = _draw_update(t, e) if outcome == 0 else _win_update(t - e)
        mu[winner] += variance[winner] / c * v
        mu[loser] -= variance[loser] / c * v
        variance[winner] *= 1 - variance[winner] / c**2 * w
        variance[loser] *= 1 - variance[loser] / c**2 * w
    return np.array(mu), np.sqrt(variance)


def _win_update(x: float) -> tuple[float, float]:
    mass = _cdf(x)
    # In the far tail the hazard is asymptotically -x, and the truncated variance vanishes.
    v = _pdf(x) / mass if mass > 0 else -x
    return v, min(1.0, v * (v + x))


def _draw_update(t: float, margin: float) -> tuple[float, float]:
    distance, sign = abs(t), -1 if t < 0 else 1
    upper, lower = margin - distance, -margin - distance
    mass = _cdf(upper) - _cdf(lower)
    if mass <= 0:
        return sign * upper, 1.0
    v = (_pdf(lower) - _pdf(upper)) / mass
    w = v**2 + (upper * _pdf(upper) - lower * _pdf(lower)) / mass
    return sign * v, min(1.0, w)


def _pdf(x: float) -> float:
    return math.exp(-x * x / 2) / _ROOT_TWO_PI


def _cdf(x: float) -> float:
    return math.erfc(-x / _ROOT_TWO) / 2
