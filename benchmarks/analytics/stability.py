"""Figure 3a in full, 43 sizes x 1,000 subsamples x 1,000 replicates, against the same in plain Python."""

import random
from collections import Counter

from benchmarks.analytics.measurement import Measurement, timed
from benchmarks.analytics.simulated import simulated_games
from spotthebot.analytics.stats.stability import RankRule, stability_at, stability_sizes
from spotthebot.analytics.stats.wins import Games, Unit

SUBSETS, REPLICATES, MATCHES, PER_PAIR = 1000, 1000, 5000, 45
_RIVAL_SIZE, _RIVAL_REPLICATES = 24, 40
TOY = {"SUBSETS": 2, "REPLICATES": 5, "MATCHES": 50, "PER_PAIR": 4, "_RIVAL_SIZE": 2, "_RIVAL_REPLICATES": 2}


def measure() -> list[Measurement]:
    """Rank every subset by the released rule; the rival does one subset with some of its replicates."""
    games = simulated_games(15 * PER_PAIR, unit=Unit.CONVERSATION)
    sizes = stability_sizes(games)
    points, seconds = timed(
        lambda: [
            stability_at(games, size, rule=RankRule.PUBLISHED, n_subsets=SUBSETS, n_resamples=REPLICATES)
            for size in sizes
        ]
    )
    _, rival_seconds = timed(lambda: _plain_subset(games, _RIVAL_SIZE, _RIVAL_REPLICATES))
    rival = rival_seconds * REPLICATES / _RIVAL_REPLICATES * SUBSETS * len(sizes)
    return [
        Measurement(
            work=f"Figure 3a: {len(sizes)} sizes x {SUBSETS:,} subsamples x {REPLICATES:,} replicates, 6 bots",
            rival="the same in plain Python",
            seconds=seconds,
            rival_seconds=rival,
            scaled=f"from {_RIVAL_REPLICATES} replicates of one subsample",
            agreement=f"rate rises from {points[0].estimate:.2f} to {points[-1].estimate:.2f};"
            " equal to the reference's in tests/reproduction",
            goal=">= 500x, under 180 s",
            reached=rival / seconds >= 500 and seconds < 180,
        )
    ]


def _plain_subset(games: Games, size: int, n_replicates: int) -> Counter[tuple[int, ...]]:
    """Choose conversations of every pair and rank them as the released code does."""
    generator = random.Random(0)
    by_pair: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for match in zip(games.first.tolist(), games.second.tolist(), games.outcome.tolist(), strict=True):
        by_pair.setdefault(match[:2], []).append(match)
    subset = [match for matches in by_pair.values() for match in generator.sample(matches, size)]
    ranks: Counter[tuple[int, ...]] = Counter()
    for _ in range(n_replicates):
        wins, played = Counter[int](), Counter[int]()
        for first, second, outcome in generator.choices(subset, k=MATCHES):
            played[first] += 1
            played[second] += 1
            if outcome:
                wins[first if outcome > 0 else second] += 1
        ranks[tuple(sorted(range(len(games.bots)), key=lambda bot: -wins[bot] / played[bot]))] += 1
    return ranks
