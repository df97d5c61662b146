"""The bounds of the win rates of all pairs, valid at every look together: a mixture of Student's likelihoods.

The estimate is the pair's win rate (Eq. 1) minus 1/2. Under a true rate its likelihood is Student's. It is compared
with the mean likelihood over rates that are normal around the true rate, with the standard deviation `PRIOR_SPREAD`
(Robbins 1970; for Student's t, Rouder et al. 2009 and Gönen et al. 2005). With g = `PRIOR_SPREAD`² / variance, t the
estimate over its standard error and v degrees of freedom, the ratio of the likelihoods is

    (1 + g)^(-1/2) ((1 + t² / v) / (1 + t² / (v (1 + g))))^((v + 1) / 2)

By Ville's inequality it reaches m / .05 at any look with a probability of at most .05 / m, for each of m pairs. The
prior has the same spread at every look: if it followed the number of annotations, the inequality would not hold.

The inequality assumes a known variance. So the variance is that of independent games, times the largest of four design
effects: the pair's own, the family's expected, both pooled (`pooled_design_effects`), and the one that a correlation of
`LEAST_CORRELATION` within conversations and annotators would give. The variance of independent games is that of a rate
to which `EVEN_GAMES` effective games with even odds are added, since few games near a rate of 0 or 1 show too little
variance (Agresti & Coull 1998). The degrees of freedom are those of the annotators for each independent difference.
Fewer effective annotators than `LEAST_ANNOTATORS` decide nothing.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.pooled_design_effects import (
    effective_annotators,
    others_in_clusters,
    pooled_variance,
)
from spotthebot.analytics.stats.win_rate_variance import influence_of_pairs
from spotthebot.analytics.stats.wins import Games, count_wins
from spotthebot.statistics.clustered_variance import Counted
from spotthebot.statistics.uncertainty import Clusters

LEVEL: Final = 0.05
"""The largest probability that any pair ever gets a false verdict."""
PRIOR_SPREAD: Final = 0.25
"""The standard deviation of win rates around the true rate in the mixture."""
LEAST_ANNOTATORS: Final = 6
LEAST_CORRELATION: Final = 0.05
EVEN_GAMES: Final = 8
_CERTAIN: Final = 1e-12


@dataclass(frozen=True, eq=False)
class PairBounds:
    """The win rates of m pairs with their design effects, and the annotators of the whole study.

    `effect` is NaN for a pair without a variance. `of_annotators` and `of_conversations` (m,) are the mean numbers of
    other games in a game's clusters. `team` counts the annotators of all pairs, `effective_annotators` is Kish's number
    of them. `contrasts` is the number of bots with decided games, minus one.
    """

    first: IntArray
    second: IntArray
    rate: FloatArray
    n: IntArray
    conversations: IntArray
    annotators: IntArray
    effect: FloatArray
    of_annotators: FloatArray
    of_conversations: FloatArray
    team: int
    effective_annotators: float
    contrasts: int

    @classmethod
    def of(cls, games: Games) -> "PairBounds":
        """Return the basis of the bounds of every unordered pair, in the order of `triu_indices`."""
        first, second = np.triu_indices(len(games.bots), 1)
        m, observations = len(first), games.observations
        rate, influence = influence_of_pairs(games, count_wins(games))
        n = np.bincount(influence.statistic, minlength=m)
        contrasts = max(1, len(np.unique([first[n > 0], second[n > 0]])) - 1)
        found = pooled_variance(rate, observations, influence, Clusters.BOTH, contrasts=contrasts)
        spread = rate * (1 - rate)
        effects = [np.divide(found.variance * n, spread, out=np.ones(m), where=spread > _CERTAIN)]
        if found.pooled is not None:
            effects += [found.pooled.design_effect, found.pooled.expected]
        of_annotators = others_in_clusters(observations, influence, Clusters.ANNOTATOR)
        of_conversations = others_in_clusters(observations, influence, Clusters.CONVERSATION)
        effects.append(1 + LEAST_CORRELATION * (of_annotators + of_conversations))
        everything = Counted(1, np.zeros(len(influence.observation), dtype=np.int64), influence.observation)
        return cls(
            first=first,
            second=second,
            rate=rate,
            n=n,
            conversations=found.n_conversations,
            annotators=found.n_annotators,
            effect=np.where(np.isnan(found.variance), np.nan, np.fmax.reduce(effects)),
            of_annotators=of_annotators,
            of_conversations=of_conversations,
            team=len(np.unique(observations.annotator[influence.observation])),
            effective_annotators=float(effective_annotators(observations, everything)[0]),
            contrasts=contrasts,
        )

    def reach(self, at: int, *, conversations: float = 1.0, annotators: float = 1.0) -> float:
        """Return half the width of the bounds of a pair's difference of win rates; NaN if it has no bounds.

        It is projected to `conversations` times the conversations of the pair, labelled by the same annotators, and to
        `annotators` times the annotators, with as much work for each.
        """
        effective = self.effective_annotators * annotators
        if np.isnan(self.effect[at]) or effective < LEAST_ANNOTATORS:
            return float("nan")
        excess = self.of_annotators[at] + self.of_conversations[at]
        correlation = (self.effect[at] - 1) / excess if excess > 0 else 0.0
        projected = (self.of_annotators[at] + 1) * conversations - 1 + self.of_conversations[at]
        worth = float(self.n[at] * conversations * annotators / (1 + correlation * projected))
        rate = (self.rate[at] * worth + EVEN_GAMES / 2) / (worth + EVEN_GAMES)
        variance = float(rate * (1 - rate)) / worth
        return 2 * mixture_reach(variance, (effective - 1) * self.contrasts, len(self.first) / LEVEL)


def mixture_reach(variance: float, degrees: float, ratio: float) -> float:
    """Return the distance of a rate from its estimate at which the likelihood ratio is `ratio`; perhaps infinite.

    >>> reach = mixture_reach(0.01, 1e9, 20.0)  # with many degrees the normal mixture:
    >>> math.isclose(reach, math.sqrt(0.01 * 7.25 / 6.25 * math.log(7.25 * 20**2)), rel_tol=1e-6)
    True
    """
    g = PRIOR_SPREAD**2 / variance
    root = (ratio**2 * (1 + g)) ** (1 / (degrees + 1))
    if root >= 1 + g:
        return float("inf")
    return math.sqrt(variance * degrees * (root - 1) / (1 - root / (1 + g)))
