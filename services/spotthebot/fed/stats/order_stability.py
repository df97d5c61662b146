"""How many dialogues of each pair it takes until new dialogues rank the bots in the same order (Sato et al., 6.1).

Samples of dialogues of each pair of a bot and a partner are drawn with replacement, so a size may exceed the number of
collected dialogues. The rate of a size is the share of samples with the commonest order, as for the labels of Spot The
Bot (Figure 3). Orders are of the mean scores, without a test: bots of almost equal means keep the order unstable.

The means of a few dialogues are further apart than the bots are: the squares of their distances include the noise of
this collection. Samples around these means would repeat its order too often. So the means move together by one factor,
until the variance between them is what is left without their noise (the method of moments of DerSimonian & Laird 1986);
and samples of n dialogues, which vary by n - 1 of n parts of the variance, are spread accordingly.
`benchmarks/fed/coverage/pools` compares the rates with the shares of new dialogues.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from spotthebot.statistics.arrays import FloatArray
from spotthebot.statistics.columns import read_codes, read_numbers, unit_of
from spotthebot.statistics.errors import ColumnsDiffer, SettingOutOfRange, require_confidence_level, require_splits
from spotthebot.statistics.randomness import require_seed
from spotthebot.statistics.stability import stable_sizes, wilson_bounds
from spotthebot.statistics.whole_numbers import is_whole

MIN_DIALOGUES: Final = 5
"""With fewer dialogues of a pair, samples of them vary far less than new dialogues."""
MAX_SIZE: Final = 10_000
MAX_SAMPLES: Final = 10_000
_DECIMALS: Final = 12
METHOD: Final = (
    "orders of mean scores of samples of dialogues, drawn with replacement within each pair, around means without the"
    " noise of this collection"
)


@dataclass(frozen=True)
class OrderPoint:
    """The share of samples of `size` dialogues of each pair that have the commonest order, with Wilson's bounds.

    `order` has the bots, best first; bots of equal means stand together.
    """

    size: int
    estimate: float
    low: float
    high: float
    order: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class OrderStability:
    """The rates by size, and the first size, and the size from which on, at least 95 % of the samples agree."""

    points: tuple[OrderPoint, ...]
    first_stable: int | None
    stable_from: int | None
    n_samples: int
    confidence_level: float
    seed: int
    method: str
    reason: str | None


def order_stability(
    scores: npt.ArrayLike,
    bots: Sequence[str],
    partners: Sequence[str],
    dialogue: npt.ArrayLike,
    *,
    sizes: Sequence[int] | None = None,
    n_samples: int = 500,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> OrderStability:
    """Return how stable the order of bots is, by the number of dialogues of each pair.

    Columns have one element for each bot in each dialogue. Dialogues of one text and pair count once. Without `sizes`
    there are up to 12 sizes, up to the smallest number of dialogues of a pair. There are no points, with a `reason`,
    if a pair has fewer than MIN_DIALOGUES dialogues, or with one bot. Raises ColumnsDiffer, ColumnMalformed,
    SettingOutOfRange, LevelOutOfRange, SplitsOutOfRange and SeedMalformed.

    >>> columns = [1.0, 2.0] * 5, ["worse", "better"] * 5, ["p"] * 10, np.arange(10)
    >>> found = order_stability(*columns, n_samples=100)
    >>> found.stable_from, found.points[0].order
    (1, (('better',), ('worse',)))
    """
    require_confidence_level(confidence_level)
    require_splits(n_samples, MAX_SAMPLES)
    require_seed(seed)
    names, cells = _cells(scores, bots, partners, dialogue)
    smallest = min((len(cell) for own in cells for cell in own), default=0)
    reason = None
    if len(names) < 2:
        reason = "one bot has no order"
    elif smallest < MIN_DIALOGUES:
        reason = f"a pair has fewer than {MIN_DIALOGUES} different dialogues"
    chosen = [] if reason else _sizes(smallest) if sizes is None else sizes
    for size in chosen:
        if not is_whole(size, 1, MAX_SIZE):
            raise SettingOutOfRange(setting="size", allowed=f"a whole number from 1 to {MAX_SIZE}", value=size)
    points = tuple(_point(names, cells, size, n_samples, confidence_level, seed) for size in sorted(set(chosen)))
    first, stable_from = stable_sizes((each.size, each.estimate) for each in points)
    return OrderStability(points, first, stable_from, n_samples, confidence_level, seed, METHOD, reason)


def _cells(
    scores: npt.ArrayLike, bots: Sequence[str], partners: Sequence[str], dialogue: npt.ArrayLike
) -> tuple[tuple[str, ...], list[list[FloatArray]]]:
    """Return the bots, and for each of them the scores with each of its partners; copies of a text count once."""
    values = read_numbers(scores, "scores", finite=True)
    columns = [read_codes(each, name) for each, name in ((bots, "bots"), (partners, "partners"))]
    texts = read_codes(dialogue, "dialogue").code
    for each in (*(column.code for column in columns), texts):
        if each.shape != values.shape or values.ndim != 1:
            raise ColumnsDiffer(first=values.shape, second=each.shape)
    of_bot, of_partner = (column.code for column in columns)
    _, rows = np.unique(np.column_stack([of_bot, of_partner, texts]), axis=0, return_index=True)
    unit = unit_of(values)
    cells: dict[tuple[int, int], list[float]] = {}
    for row in rows.tolist():
        cells.setdefault((int(of_bot[row]), int(of_partner[row])), []).append(float(values[row] / unit))
    names = tuple(str(each) for each in columns[0].values)
    return names, [[np.array(own) for (bot, _), own in cells.items() if bot == code] for code in range(len(names))]


def _sizes(smallest: int) -> list[int]:
    return sorted({round(size) for size in np.geomspace(1, smallest, 12).tolist()})


def _spread(cell: FloatArray) -> FloatArray:
    """Return the deviations (n,) from the mean, whose mean square is the estimated variance."""
    n = len(cell)
    deviations: FloatArray = (cell - cell.mean()) * np.sqrt(n / (n - 1))
    return deviations


def _centres(cells: Sequence[Sequence[FloatArray]]) -> FloatArray:
    """Return the means (k,) of the bots, moved together until the noise of this collection no longer parts them."""
    means = np.array([np.mean([cell.mean() for cell in own]) for own in cells])
    noise = np.mean([np.sum([cell.var(ddof=1) / len(cell) for cell in own]) / len(own) ** 2 for own in cells])
    between = np.var(means, ddof=1)
    left = max(0.0, 1 - noise / between) if between > 0 else 0.0
    centres: FloatArray = means.mean() + np.sqrt(left) * (means - means.mean())
    return centres


def _point(
    names: tuple[str, ...],
    cells: Sequence[Sequence[FloatArray]],
    size: int,
    n_samples: int,
    confidence_level: float,
    seed: int,
) -> OrderPoint:
    chance = np.random.default_rng([seed, size])
    drawn = np.array(
        [
            np.mean(
                [_spread(cell)[chance.integers(len(cell), size=(n_samples, size))].mean(axis=1) for cell in own], axis=0
            )
            for own in cells
        ]
    )
    means = (_centres(cells)[:, None] + drawn).round(_DECIMALS)
    # The rank of each bot in each sample: how many different means are above its own.
    ranks = np.array([np.unique(-sample, return_inverse=True)[1].ravel() for sample in means.T])
    orders, counts = np.unique(ranks, axis=0, return_counts=True)
    commonest = int(np.argmax(counts))
    order = tuple(
        tuple(name for name, rank in zip(names, orders[commonest], strict=True) if rank == place)
        for place in range(int(orders[commonest].max()) + 1)
    )
    low, high = wilson_bounds(int(counts[commonest]), n_samples, confidence_level)
    return OrderPoint(size, int(counts[commonest]) / n_samples, low, high, order)
