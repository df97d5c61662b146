"""The campaigns of the benchmark: balanced ones measure power, hard ones with equal bots measure the level."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from benchmarks.analytics.power.unbalanced_campaigns import Unbalanced, draw_unbalanced
from spotthebot.analytics.stats.annotations import AnnotationTable, BoolArray, FloatArray
from tests.factories.clustered_campaigns import Setting, draw_labels

BOT, HUMAN = np.array([0.35, 0.45, 0.55]), np.array([0.45, 0.38, 0.30])
BALANCED: Final[Mapping[Setting, float]] = MappingProxyType(
    {
        Setting(4, 15, 12, 0.18, taste=True): 0.17,
        Setting(6, 10, 12, 0.18, taste=True): 0.24,
        Setting(4, 45, 12, 0.18, taste=True): 0.12,
        Setting(10, 15, 12, 0.18, taste=True): 0.24,
        Setting(4, 45, 40, 0.18, taste=True): 0.10,
        Setting(4, 15, 6, 0.18, taste=True): 0.20,
    }
)
"""With the skill of the best bot, which the worst lacks as much: an oracle finds a third to a half of the pairs."""
_FAR: Final = 0.25
HARD: Final[Mapping[str, Unbalanced]] = MappingProxyType(
    {
        "one pair has 60 conversations, all labelled by three people": Unbalanced(
            4, 15, per_pair={0: 60}, only={0: (0, 1, 2)}
        ),
        "the same among 6 bots": Unbalanced(6, 10, per_pair={0: 60}, only={0: (0, 1, 2)}),
        "three people for each pair": Unbalanced(
            4, 20, only={at: (at, (at + 4) % 12, (at + 7) % 12) for at in range(6)}
        ),
        "one pair has 120 conversations, the others 6": Unbalanced(4, 6, per_pair={0: 120}),
        "the same among 6 bots, others 6": Unbalanced(6, 6, per_pair={0: 120}),
        "two groups of 3 equal bots far apart, work Dirichlet(2)": Unbalanced(
            6, 15, dirichlet=2, skill=(_FAR, _FAR, _FAR, -_FAR, -_FAR, -_FAR)
        ),
        "two groups of 2 equal bots far apart": Unbalanced(4, 15, skill=(_FAR, _FAR, -_FAR, -_FAR)),
        "two of 6 bots are a matter of strong taste": Unbalanced(6, 15, tastes=(1, 1, 0.1, 0.1, 0.1, 0.1)),
        "two of 4 bots are a matter of strong taste, 45 conversations": Unbalanced(4, 45, tastes=(1, 1, 0.1, 0.1)),
        "one annotator does 40 % of the work": Unbalanced(4, 15, dominant=0.4),
        "work Dirichlet(2)": Unbalanced(6, 15, dirichlet=2),
        "three of 12 annotators are careless": Unbalanced(4, 15, careless=3),
        "3 bots": Unbalanced(3, 15),
        "3 bots, 45 conversations, 6 annotators": Unbalanced(3, 45, 6),
        "2 conversations a pair": Unbalanced(6, 2),
    }
)


def balanced(setting: Setting, skill: float, seed: int, *, equal: bool) -> AnnotationTable:
    """Draw a campaign of equal bots, or of bots from `skill` down to -`skill`."""
    better = np.zeros(setting.k) if equal else np.linspace(skill, -skill, setting.k)
    rng = np.random.default_rng([32, seed, equal])
    return draw_labels(setting, BOT - better[:, None], HUMAN + better[:, None], rng)


def hard(campaign: Unbalanced, seed: int) -> AnnotationTable:
    """Draw a campaign of a hard cell."""
    return draw_unbalanced(campaign, BOT, HUMAN, np.random.default_rng([33, seed]))


def equals(campaign: Unbalanced) -> BoolArray:
    """Return which pairs of bots are equal, in the order of `triu_indices`."""
    skill: FloatArray = np.zeros(campaign.k) if campaign.skill is None else np.array(campaign.skill)
    first, second = np.triu_indices(campaign.k, 1)
    alike: BoolArray = skill[first] == skill[second]
    return alike
