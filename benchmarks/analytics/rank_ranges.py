"""Win-rate rank ranges with 1,000 replicates against plain Python resampling, as the released code does it."""

import random
from collections import Counter
from functools import partial

import numpy as np

from benchmarks.analytics.measurement import Measurement, timed
from benchmarks.analytics.simulated import simulated_games
from spotthebot.analytics.stats import Games, published_rank_ranges

REPLICATES = 1000
_RIVAL_REPLICATES = 20
_SIZES = (4_050, 405_000)


def measure() -> list[Measurement]:
    """Rank by single games, with as many drawn as there are; the cost must not depend on how many there are."""
    measurements = []
    fastest = None
    for size in _SIZES:
        games = simulated_games(size)
        ours, seconds = timed(partial(published_rank_ranges, games, n_matches=None), repeats=3)
        fastest = fastest or seconds
        n = _RIVAL_REPLICATES if size < 10_000 else 1
        theirs, rival_seconds = timed(partial(_plain, games, n))
        rival = rival_seconds * REPLICATES / n
        order = [bot for _, bot in sorted(zip(ours.rank_low, ours.bots, strict=True))]
        measurements.append(
            Measurement(
                work=f"rank ranges, {size:,} games x {REPLICATES:,} replicates",
                rival="plain Python resampling",
                seconds=seconds,
                rival_seconds=rival,
                scaled=f"from {n} replicate{'s' if n > 1 else ''}",
                agreement=f"same order of bots: {order == theirs}; {seconds / fastest:.1f}x the time of the smallest",
                goal=">= 100x, cost independent of the number of games",
                reached=rival / seconds >= 100 and order == theirs and seconds < 2 * fastest,
            )
        )
    return measurements


def _plain(games: Games, n_replicates: int) -> list[str]:
    """Draw games with replacement, count wins and games of each bot, sort; return the commonest order."""
    matches = list(zip(games.first.tolist(), games.second.tolist(), games.outcome.tolist(), strict=True))
    generator, orders = random.Random(0), Counter[tuple[str, ...]]()
    for _ in range(n_replicates):
        wins, played = Counter[int](), Counter[int]()
        for first, second, outcome in generator.choices(matches, k=len(matches)):
            played[first] += 1
            played[second] += 1
            if outcome:
                wins[first if outcome > 0 else second] += 1
        ranked = sorted(range(len(games.bots)), key=lambda bot: -wins[bot] / played[bot])
        orders[tuple(games.bots[bot] for bot in ranked)] += 1
    return list(np.array(orders.most_common(1)[0][0]))
