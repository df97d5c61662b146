"""Compares rankings: between the three modes of play, and between a fair pool and a stacked pool of bots.

A stacked pool is the fair pool and some added bots. Ideally, added bots do not change the order of the fair pool's
bots.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from spotthebot.cli.evaluations.declaration_file import PlayMode
from spotthebot.cli.evaluations.run import Evaluation
from spotthebot.statistics.rank_correlation import rank_correlation


@dataclass(frozen=True)
class Comparison:
    """Spearman's rho between two modes, over the scores of the same bots on one dimension. None if it is undefined."""

    dimension: str
    modes: tuple[PlayMode, PlayMode]
    spearman: float | None
    p_value: float | None
    n: int

    def to_json(self) -> dict[str, Any]:
        return {
            "dimension": self.dimension,
            "modes": [each.value for each in self.modes],
            "spearman": self.spearman,
            "p_value": self.p_value,
            "n": self.n,
        }


@dataclass(frozen=True)
class RankFlips:
    """The pairs of bots whose order differs between a fair and a stacked pool (Sato et al. 2022, Table 6).

    In bipartite-play no order differs if bots reply alike to the same context, because the conversations of a target do
    not depend on the targets added to the pool.
    """

    mode: PlayMode
    dimension: str
    pairs: int
    flipped: tuple[tuple[str, str], ...]
    """Pairs of the bot that was ahead in the fair pool, and the bot that overtook it."""

    def to_json(self) -> dict[str, Any]:
        return {
            "mode": self.mode.value,
            "dimension": self.dimension,
            "pairs": self.pairs,
            "flipped": [list(pair) for pair in self.flipped],
        }


def compare_modes(evaluations: Sequence[Evaluation]) -> list[Comparison]:
    """Correlate the scores of each pair of modes, separately for each dimension."""
    found = []
    for one, other in combinations(evaluations, 2):
        for dimension, scores in _scores(one).items():
            others = _scores(other)[dimension]
            bots = sorted(scores.keys() & others.keys())
            result = rank_correlation([scores[bot] for bot in bots], [others[bot] for bot in bots])
            found.append(Comparison(dimension, (one.mode, other.mode), result.estimate, result.p_value, len(bots)))
    return found


def find_flips(fair: Evaluation, stacked: Evaluation) -> list[RankFlips]:
    """Return for each dimension the pairs of the fair pool's bots whose order differs in the stacked pool.

    Both evaluations must use the same mode of play.
    """
    found = []
    for dimension, scores in _scores(fair).items():
        others = _scores(stacked)[dimension]
        ahead = [(a, b) if scores[a] >= scores[b] else (b, a) for a, b in combinations(sorted(scores), 2)]
        flipped = tuple((first, second) for first, second in ahead if others[second] > others[first])
        found.append(RankFlips(fair.mode, dimension, len(ahead), flipped))
    return found


def _scores(evaluation: Evaluation) -> Mapping[str, Mapping[str, float]]:
    return {each.dimension: {bot.bot: bot.score for bot in each.bots} for each in evaluation.scores.dimensions}
