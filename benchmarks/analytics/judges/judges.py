"""Judges of simulated campaigns: good, useless, adversarial, leaking, and biased by position and by length."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
import scipy

from benchmarks.analytics.judges.campaigns import LENGTHS, Campaign, spread_of
from spotthebot.analytics.stats.annotations import FloatArray, LabelCode


def _good(campaign: Campaign, rng: np.random.Generator, bias: FloatArray | float = 0.0) -> FloatArray:
    seen = campaign.content + rng.normal(0, 0.3, campaign.content.shape) + bias
    chance: FloatArray = scipy.special.ndtr((seen - 0.25) / spread_of(campaign.setting))
    return chance


def _useless(campaign: Campaign, rng: np.random.Generator) -> FloatArray:
    return rng.random(campaign.content.shape)


def _adversarial(campaign: Campaign, rng: np.random.Generator) -> FloatArray:
    return 1 - _good(campaign, rng)


def _leaking(campaign: Campaign, rng: np.random.Generator) -> FloatArray:
    """Knows by heart the labels that it was fitted to, and says the share of "human" among them of all other sides."""
    asked, human = campaign.labels >= 0, campaign.labels == LabelCode.HUMAN
    share = np.bincount(campaign.entity[asked], weights=human[asked]) / np.bincount(campaign.entity[asked])
    known = np.where(asked, 0.1 + 0.8 * human, share[campaign.entity])
    return np.clip(known + rng.normal(0, 0.1, known.shape), 0.0, 1.0)


def _by_position(campaign: Campaign, rng: np.random.Generator) -> FloatArray:
    return _good(campaign, rng, np.array([0.8, -0.8]))


def _by_length(campaign: Campaign, rng: np.random.Generator) -> FloatArray:
    return _good(campaign, rng, 0.6 * np.searchsorted(LENGTHS, campaign.exchanges).astype(np.float64)[:, None])


JUDGES: Final[Mapping[str, Callable[[Campaign, np.random.Generator], FloatArray]]] = MappingProxyType(
    {
        "good": _good,
        "useless": _useless,
        "adversarial": _adversarial,
        "leaking": _leaking,
        "position": _by_position,
        "length": _by_length,
    }
)
