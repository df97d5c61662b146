"""How many conversations a ranking needs until random subsets reproduce it (Figure 3 of Spot The Bot).

Random subsets with the same number of conversations of every pair are ranked. The result for a size is the share of
subsets that have the most frequent clusters of bots. A subset consists of counts of wins, losses and ties of each pair,
drawn without replacement: no conversation is used twice. A pair's conversations with the same text are one game. The
bot that won more of these conversations wins the game.
"""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level, require_resamples
from spotthebot.analytics.stats.rank_ranges import (
    clusters_of_ranges,
    published_ranges,
    published_rank_counts,
    rank_ranges,
)
from spotthebot.analytics.stats.wins import (
    Games,
    PairCounts,
    Unit,
    count_wins,
    games_between,
    mean_win_rates,
    pairwise_win_rates,
)
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.randomness import require_seed
from spotthebot.statistics.stability import stable_sizes, wilson_bounds
from spotthebot.statistics.whole_numbers import is_whole

_SUBSETS_AT_ONCE: Final = 50
_THREADS: Final = 2
_MATCHES: Final = 5000
_SHARE: Final = 0.995


class RankRule(StrEnum):
    """How a subset is ranked: by the rule of the released code, or by percentiles of a bootstrap of its games."""

    PUBLISHED = "published"
    PERCENTILE = "percentile"


@dataclass(frozen=True)
class StabilityPoint:
    """The result for one size.

    `estimate` is the share of subsets with the most frequent clusters, with Wilson's bounds.

    `size` counts conversations of each pair. `clusters` has the bots of each cluster, best first.
    """

    size: int
    estimate: float
    low: float
    high: float
    clusters: tuple[tuple[str, ...], ...]
    n: int
    n_resamples: int
    confidence_level: float
    rule: RankRule
    method: str
    seed: int


@dataclass(frozen=True)
class StabilityCurve:
    """The results for all sizes.

    `first_stable` is the first size whose share is at least 95 %. From `stable_from` on, the share of every size is at
    least 95 %.
    """

    points: tuple[StabilityPoint, ...]
    first_stable: int | None
    stable_from: int | None


def stability_sizes(games: Games) -> range:
    """Return the possible sizes of subsets: from 3 to the smallest number of games of any pair. The range may be empty.

    Use games whose unit is a conversation. With other units a pair has several games of one conversation.

    >>> from spotthebot.analytics.stats import AnnotationTable, Unit, play_games
    >>> rows = [(at, "A", "B", 2, "human", "bot", 0) for at in range(4)] + [(9, "A", "C", 2, "bot", "human", 0)]
    >>> games = play_games(AnnotationTable.from_rows(rows), unit=Unit.CONVERSATION)
    >>> stability_sizes(without_bot(games, "C"))
    range(3, 5)
    """
    counts = count_wins(_one_game_of_a_text(games))
    played = (counts.wins + counts.wins.T + counts.ties)[np.triu_indices(len(games.bots), 1)]
    return range(3, int(played.min()) + 1) if len(played) else range(0)


def stability_at(
    games: Games,
    size: int,
    *,
    rule: RankRule = RankRule.PERCENTILE,
    n_subsets: int = 1000,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> StabilityPoint:
    """Rank `n_subsets` random subsets of `size` games of each pair.

    Each size has its own random numbers, made from the seed and the size. So the sizes of a curve can be computed in
    any order, and a computation can be interrupted and continued. Raises `SettingOutOfRange` and `SeedMalformed`.

    >>> from spotthebot.analytics.stats import Unit
    >>> games = Games(
    ...     bots=("A", "B"), first=np.zeros(9, int), second=np.ones(9, int), outcome=np.ones(9, int),
    ...     conversation=np.arange(9), annotator=np.arange(9), unit=Unit.CONVERSATION, criterion="human",
    ... )
    >>> point = stability_at(games, 3, n_subsets=20, n_resamples=50)  # A always wins
    >>> point.estimate, point.clusters
    (1.0, (('A',), ('B',)))
    """
    rule = choice_of("rule", rule, RankRule)
    require_confidence_level(confidence_level)
    require_resamples(n_resamples)
    require_resamples(n_subsets, "n_subsets")
    require_seed(seed)
    counts = count_wins(_one_game_of_a_text(games))
    cells = _cells(counts)
    most = int(cells.sum(axis=1).min()) if len(cells) else 0
    if not is_whole(size, 1, most):
        raise SettingOutOfRange(
            setting="size", allowed=f"a whole number from 1 to {most}, the games of every pair", value=size
        )
    chunks = [min(_SUBSETS_AT_ONCE, n_subsets - start) for start in range(0, n_subsets, _SUBSETS_AT_ONCE)]
    seeds = np.random.SeedSequence([seed, size]).spawn(len(chunks))

    def cluster(chunk: tuple[int, np.random.SeedSequence]) -> Counter[tuple[int, ...]]:
        return _clusterings(counts.bots, cells, size, chunk[0], n_resamples, rule, np.random.default_rng(chunk[1]))

    with ThreadPoolExecutor(_THREADS) as pool:
        found: Counter[tuple[int, ...]] = sum(pool.map(cluster, zip(chunks, seeds, strict=True)), Counter())
    # Of equally common clusterings, the one that separates more bots, so that the order of draws does not decide.
    commonest = max(found, key=lambda labels: (found[labels], labels))
    rate = found[commonest] / n_subsets
    low, high = wilson_bounds(found[commonest], n_subsets, confidence_level)
    return StabilityPoint(
        size=size,
        estimate=rate,
        low=low,
        high=high,
        clusters=_named(counts.bots, commonest),
        n=n_subsets,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rule=rule,
        method=_METHODS[rule],
        seed=seed,
    )


def stability_curve(points: Sequence[StabilityPoint]) -> StabilityCurve:
    """Return the points in order of size, with the sizes from which the ranking is stable.

    >>> points = [
    ...     StabilityPoint(size, rate, 0, 1, (), 100, 100, 0.95, RankRule.PUBLISHED, "", 0)
    ...     for size, rate in ((3, 0.5), (4, 0.96), (5, 0.9), (6, 0.99))
    ... ]
    >>> curve = stability_curve(points)
    >>> curve.first_stable, curve.stable_from
    (4, 6)
    """
    ordered = tuple(sorted(points, key=lambda point: point.size))
    return StabilityCurve(ordered, *stable_sizes((point.size, point.estimate) for point in ordered))


def without_bot(games: Games, bot: str) -> Games:
    """Return the games without a bot (Figure 3b); raises `SettingOutOfRange` for an unknown bot.

    >>> from spotthebot.analytics.stats import AnnotationTable, Unit, play_games
    >>> rows = [(at, "A", "B", 2, "human", "bot", 0) for at in range(4)] + [(9, "A", "C", 2, "bot", "human", 0)]
    >>> games = play_games(AnnotationTable.from_rows(rows), unit=Unit.CONVERSATION)
    >>> without_bot(games, "B").bots, len(without_bot(games, "B"))
    (('A', 'C'), 1)
    """
    if bot not in games.bots:
        raise SettingOutOfRange(setting="bot", allowed=f"one of {', '.join(games.bots) or 'no bots'}", value=bot)
    code = games.bots.index(bot)
    return games_between(games, np.delete(np.arange(len(games.bots)), code))


_METHODS = {
    RankRule.PUBLISHED: f"released code: {_MATCHES} games drawn, ranges holding more than {_SHARE:.1%}",
    RankRule.PERCENTILE: "win rates without ties, percentile ranges of a bootstrap of the subset's games",
}


def _one_game_of_a_text(games: Games) -> Games:
    """Join the games of a pair with the same text to one game.

    Games whose unit is not a conversation stay unchanged.
    """
    if games.unit is not Unit.CONVERSATION:
        return games
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    shown = np.column_stack([low, high, games.conversation])
    _, rows, game = np.unique(shown, axis=0, return_index=True, return_inverse=True)
    if len(rows) == len(games):
        return games
    points = np.bincount(game, weights=np.where(games.first == low, games.outcome, -games.outcome))
    return replace(
        games,
        first=low[rows],
        second=high[rows],
        outcome=np.sign(points).astype(np.int64),
        conversation=games.conversation[rows],
        annotator=games.annotator[rows],
    )


def _cells(counts: PairCounts) -> IntArray:
    """Return counts (pairs, 3) for each pair: wins of the first bot, wins of the second bot, and ties."""
    first, second = np.triu_indices(len(counts.bots), 1)
    return np.column_stack([counts.wins[first, second], counts.wins[second, first], counts.ties[first, second]])


def _clusterings(
    bots: tuple[str, ...],
    cells: IntArray,
    size: int,
    n_subsets: int,
    n_resamples: int,
    rule: RankRule,
    generator: np.random.Generator,
) -> Counter[tuple[int, ...]]:
    drawn = np.stack([generator.multivariate_hypergeometric(pair, size, size=n_subsets) for pair in cells], axis=1)
    kinds, times = np.unique(drawn.reshape(n_subsets, -1), axis=0, return_counts=True)
    found: Counter[tuple[int, ...]] = Counter()
    for kind, n in zip(kinds, times.tolist(), strict=True):
        counts = _counts(bots, kind.reshape(-1, 3))
        if rule is RankRule.PUBLISHED:
            low, high = published_ranges(published_rank_counts(counts, _MATCHES, n_resamples, generator), _SHARE)
        else:
            low, high = rank_ranges(_resampled_rates(counts, n_resamples, generator), 0.95)
        found[tuple(clusters_of_ranges(low, high).tolist())] += n
    return found


def _counts(bots: tuple[str, ...], cells: IntArray) -> PairCounts:
    k = len(bots)
    first, second = np.triu_indices(k, 1)
    wins, ties = np.zeros((k, k), dtype=np.int64), np.zeros((k, k), dtype=np.int64)
    wins[first, second], wins[second, first] = cells[:, 0], cells[:, 1]
    ties[first, second] = ties[second, first] = cells[:, 2]
    return PairCounts(bots=bots, wins=wins, ties=ties)


def _resampled_rates(counts: PairCounts, n_resamples: int, generator: np.random.Generator) -> FloatArray:
    k = len(counts.bots)
    first, second = np.triu_indices(k, 1)
    cells = _cells(counts)
    draws = generator.multinomial(int(cells.sum()), cells.ravel() / cells.sum(), size=n_resamples)
    pairs = draws.reshape(n_resamples, len(cells), 3).astype(np.float64)
    wins = np.zeros((n_resamples, k, k))
    wins[:, first, second], wins[:, second, first] = pairs[:, :, 0], pairs[:, :, 1]
    return mean_win_rates(pairwise_win_rates(wins))


def _named(bots: tuple[str, ...], labels: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(bot for bot, label in zip(bots, labels, strict=True) if label == cluster)
        for cluster in sorted(set(labels))
    )
