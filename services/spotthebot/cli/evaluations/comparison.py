"""Compares rankings between the three modes of play."""

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


def _scores(evaluation: Evaluation) -> Mapping[str, Mapping[str, float]]:
    return {each.dimension: {bot.bot: bot.score for bot in each.bots} for each in evaluation.scores.dimensions}
