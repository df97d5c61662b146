"""Mean scores of bots with intervals, and ranges of ranks by tests of all differences.

Dialogues that begin with the same opening vary together, and so do both bots of a dialogue: variances are those of
`clustered_variance`. Each bound of an interval is the wider one of two bounds: by Student's t, which holds for normal
scores, and by a studentised bootstrap of the clusters, which holds for skewed ones. `benchmarks/fed/coverage` measures
both alone and together, and the ranks beside an oracle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from spotthebot.fed.stats.mean_scores import MeanScores
from spotthebot.statistics.arrays import IntArray
from spotthebot.statistics.columns import read_codes, read_numbers, require_present, unit_of
from spotthebot.statistics.distributions import student_quantiles
from spotthebot.statistics.errors import ColumnsDiffer, require_confidence_level, require_splits
from spotthebot.statistics.randomness import generator_of
from spotthebot.statistics.studentised import studentised_quantiles

MAX_RESAMPLES: Final = 1_000_000
MIN_CLUSTERS: Final = 5
"""With fewer dialogues or openings, too many resamples consist of a single one, and intervals of skewed scores fail."""
_ROUNDING: Final = 1e-9
"""A standard error below this share of the scores counts as 0."""
_FEW: Final = f"fewer than {MIN_CLUSTERS} different {{clusters}}: no interval"
_ALIKE: Final = "all {clusters} have one mean: no interval"
_METHOD: Final = (
    "the wider bounds of Student's t and of a studentised bootstrap, {clusters}; ranks by t tests of all differences,"
    " one family (Holm)"
)


@dataclass(frozen=True)
class BotScore:
    """A bot's mean score over n contexts in `n_dialogues` dialogues. If it has no bounds, `reason` says why.

    `rank_low` to `rank_high` is the bot's rank range; rank 1 is the best. The ranges of all bots hold at once at the
    confidence level.
    """

    bot: str
    estimate: float
    low: float | None
    high: float | None
    rank_low: int
    rank_high: int
    n: int
    n_dialogues: int
    reason: str | None


@dataclass(frozen=True)
class BotScores:
    """The mean scores of all bots, best first, and the method of their intervals."""

    bots: tuple[BotScore, ...]
    confidence_level: float
    n_resamples: int
    seed: int
    method: str


def score_bots(
    scores: npt.ArrayLike,
    bots: Sequence[str],
    dialogue: npt.ArrayLike,
    opening: npt.ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> BotScores:
    """Return each bot's mean score over its contexts, with bounds of the mean and of its rank.

    All columns have one element for each of the n contexts. Clusters are dialogues, or with `opening` the dialogues
    that begin alike; a dialogue without an opening (None) is a cluster of its own. If there are fewer than MIN_CLUSTERS
    openings, they are taken as given, and dialogues are clusters. Partners of the bots are taken as given, too. A bot
    ranks behind all bots whose mean is significantly higher, with p-values adjusted by Holm's method. A test has at
    least as many degrees of freedom as each of the two means. A bot with fewer than MIN_CLUSTERS clusters has no
    interval and takes part in no test. Raises ColumnsDiffer, ColumnMalformed, LevelOutOfRange, SplitsOutOfRange and
    SeedMalformed.

    >>> found = score_bots([3.0, 4.0, 1.0, 2.0], ["a", "a", "b", "b"], [0, 1, 2, 3])
    >>> [(bot.bot, bot.estimate, bot.rank_low) for bot in found.bots]
    [('a', 3.5, 1), ('b', 1.5, 1)]
    """
    values, of_dialogue = read_numbers(scores, "scores", finite=True), read_codes(dialogue, "dialogue").code
    if values.ndim != 1 or values.shape != of_dialogue.shape or len(bots) != len(values):
        raise ColumnsDiffer(first=values.shape, second=of_dialogue.shape)
    clusters = _Clusters.of(of_dialogue, opening)
    require_present(bots, "bots")
    require_confidence_level(confidence_level)
    require_splits(n_resamples, MAX_RESAMPLES)
    names, code = np.unique(np.array([str(bot) for bot in bots], dtype=str), return_inverse=True)
    chance, unit = generator_of(seed), unit_of(values)
    means = MeanScores.of(code.ravel(), values / unit, clusters.code, len(names))
    better = means.better(1 - confidence_level, least=MIN_CLUSTERS)
    found = []
    for at, name in enumerate(names):
        own = code == at
        reason = clusters.fault(of_dialogue[own], clusters.code[own], varies=bool(means.varies[at]))
        low, high = None, None
        if reason is None:
            low, high = _bounds(means, at, confidence_level, n_resamples=n_resamples, chance=chance)
        found.append(
            BotScore(
                bot=str(name),
                estimate=float(means.means[at]) * unit,
                low=None if low is None else low * unit,
                high=None if high is None else high * unit,
                rank_low=1 + int(better[:, at].sum()),
                rank_high=len(names) - int(better[at].sum()),
                n=int(own.sum()),
                n_dialogues=len(np.unique(of_dialogue[own])),
                reason=reason,
            )
        )
    order = sorted(found, key=lambda bot: (-bot.estimate, bot.bot))
    method = _METHOD.format(clusters=clusters.words)
    return BotScores(tuple(order), confidence_level, n_resamples, seed, method)


@dataclass(frozen=True, eq=False)
class _Clusters:
    """The cluster of each context, `code` (n,), and what the clusters are."""

    code: IntArray
    name: str
    words: str

    @classmethod
    def of(cls, dialogue: IntArray, opening: npt.ArrayLike | None) -> "_Clusters":
        none = np.full(len(dialogue), np.nan)
        openings = read_codes(none if opening is None else opening, "opening", missing=True)
        if openings.code.shape != dialogue.shape:
            raise ColumnsDiffer(first=dialogue.shape, second=openings.code.shape)
        n = len(openings.values)
        if n >= MIN_CLUSTERS:
            code = np.where(openings.code < 0, n + dialogue, openings.code)
            return cls(code, "openings", "clustered by opening")
        return cls(dialogue, "dialogues", f"clustered by dialogue{', for these openings' if n else ''}")

    def fault(self, dialogue: IntArray, cluster: IntArray, *, varies: bool) -> str | None:
        """Return why a bot with these dialogues and clusters has no interval; None if it has one."""
        for name, codes in (("dialogues", dialogue), (self.name, cluster)):
            if len(np.unique(codes)) < MIN_CLUSTERS:
                return _FEW.format(clusters=name)
        return None if varies else _ALIKE.format(clusters=self.name)


def _bounds(
    scores: MeanScores, at: int, confidence_level: float, *, n_resamples: int, chance: np.random.Generator
) -> tuple[float, float]:
    """Return the bounds of a mean: on each side the wider one of Student's t and the studentised bootstrap."""
    upper = (1 + confidence_level) / 2
    mean, error = float(scores.means[at]), float(scores.errors[at])
    student = float(student_quantiles(upper, scores.degrees[at]))
    totals, counts = scores.sums(at)
    low, high = studentised_quantiles(totals, counts, upper, n_resamples=n_resamples, chance=chance)
    return mean - max(student, high) * error, mean + max(student, -low) * error
