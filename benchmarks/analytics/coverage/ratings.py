"""Mean ratings and their ranks: what holds where the mean of every bot is known.

A rating from 1 to 5 is a rounded normal number: 3, the bot's strength, an effect of the dialogue, the annotator's
leniency, the annotator's taste for the bot, and noise. Its mean follows from the normal distribution.
"""

import math
from typing import Final

import numpy as np
from scipy import stats as distributions

from benchmarks.analytics.coverage.tallies import FALSE, Tallies
from spotthebot.analytics import stats
from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.rating_differences import rating_differences
from spotthebot.analytics.stats.rating_estimates import Ratings
from tests.factories.clustered_campaigns import Setting

_DIALOGUE: Final = 0.4
_TASTE: Final = {0.0: 0.0, 0.05: 0.13, 0.18: 0.25}
_ANNOTATIONS: Final = 2
_BEST: Final = 0.4
"""The best bot's strength; the worst has as much below 0."""
_BOUNDS: Final = np.array([1.5, 2.5, 3.5, 4.5])


_NEAR_THE_LOWEST: Final = -2.2
"""Bots that are worse by this have means from 1.2 to 1.6."""
SCALE: Final = (1.0, 5.0)


def tally(setting: Setting, seed: int) -> Tallies:
    """Draw ratings of bots that differ, in the middle of the scale and near its end, and of bots that are equal."""
    strengths = np.linspace(_BEST, -_BEST, setting.k)
    drawn = draw_ratings(setting, strengths, np.random.default_rng([seed, 2]))
    found = stats.rank_ratings(drawn)
    low = stats.rank_ratings(draw_ratings(setting, strengths + _NEAR_THE_LOWEST, np.random.default_rng([seed, 4])))
    ranks = {name: 1 + rank for rank, name in enumerate(_names(setting))}
    held = all(each.rank_low <= ranks[each.bot] <= each.rank_high for each in found.bots)
    equal = stats.rank_ratings(draw_ratings(setting, np.zeros(setting.k), np.random.default_rng([seed, 3])))
    false = any(each.rank_low > 1 or each.rank_high < setting.k for each in equal.bots)
    return {
        "mean ratings": _held(found, setting, strengths),
        "mean ratings near the lowest": _held(low, setting, strengths + _NEAR_THE_LOWEST),
        "differences of mean ratings": _differences_held(drawn, setting, strengths),
        "ranks by mean rating, all at once": (int(held), 1),
        f"ranks by mean rating, {FALSE} claim among equal bots": (int(false), 1),
    }


def _held(found: stats.RatingRanking, setting: Setting, strengths: FloatArray) -> tuple[int, int]:
    truth = dict(zip(_names(setting), _means(setting, strengths), strict=True))
    bounds = [(each.low, each.high, truth[each.bot]) for each in found.bots]
    printed = [low <= true <= high for low, high, true in bounds if low is not None and high is not None]
    return sum(printed), len(printed)


def _differences_held(drawn: Ratings, setting: Setting, strengths: FloatArray) -> tuple[int, int]:
    truth = dict(zip(_names(setting), _means(setting, strengths).tolist(), strict=True))
    found = [(each.low, each.high, truth[each.bot] - truth[each.other]) for each in rating_differences(drawn)]
    printed = [low <= true <= high for low, high, true in found if low is not None and high is not None]
    return sum(printed), len(printed)


def _names(setting: Setting) -> tuple[str, ...]:
    return tuple(f"bot {at}" for at in range(setting.k))


def _sd_taste(setting: Setting) -> float:
    return _TASTE[setting.correlation] if setting.taste else 0.0


def _sd_leniency(setting: Setting) -> float:
    """Return the standard deviation that gives unrounded ratings the intraclass correlation within annotators."""
    rest = 1 + _DIALOGUE**2 + _sd_taste(setting) ** 2
    return math.sqrt(setting.correlation / (1 - setting.correlation) * rest)


def _means(setting: Setting, strengths: FloatArray) -> FloatArray:
    """Return the mean rating of each bot (k,): 1, and the chance to be above each bound between two ratings."""
    sd = math.sqrt(1 + _DIALOGUE**2 + _sd_taste(setting) ** 2 + _sd_leniency(setting) ** 2)
    means: FloatArray = 1 + distributions.norm.sf((_BOUNDS[:, None] - 3 - strengths) / sd).sum(axis=0)
    return means


def draw_ratings(setting: Setting, strengths: FloatArray, rng: np.random.Generator) -> stats.Ratings:
    """Draw two ratings of each of a bot's dialogues, which are as many as it has conversations in a campaign."""
    k, each = setting.k, setting.per_pair * (setting.k - 1)
    bot_of = np.repeat(np.arange(k), each)
    order = rng.random((len(bot_of), setting.annotators)).argsort(axis=1)
    annotator = order[:, :_ANNOTATIONS].ravel()
    item, bot = np.repeat(np.arange(len(bot_of)), _ANNOTATIONS), np.repeat(bot_of, _ANNOTATIONS)
    leniency = rng.normal(0, _sd_leniency(setting), setting.annotators)
    taste = rng.normal(0, _sd_taste(setting), (setting.annotators, k))
    dialogue = rng.normal(0, _DIALOGUE, len(bot_of))
    latent = (
        3 + strengths[bot] + dialogue[item] + leniency[annotator] + taste[annotator, bot] + rng.normal(size=len(bot))
    )
    value = 1 + np.searchsorted(_BOUNDS, latent).astype(np.float64)
    return stats.Ratings(_names(setting), bot, item, annotator, value, SCALE)
