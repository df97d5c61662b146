"""Win-rate rank ranges with 1,000 replicates against plain Python resampling, as the released code does it."""

import math
import random
from collections import Counter
from functools import partial

import numpy as np

from benchmarks.analytics.measurement import Measurement, timed
from benchmarks.analytics.simulated import simulated_games
from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.rank_ranges import published_rank_counts
from spotthebot.analytics.stats.wins import Games, count_wins

REPLICATES = 1000
_SIZES = {4_050: 400, 405_000: 20}
"""Games, and the replicates that the rival is timed on."""
TOY = {"REPLICATES": 20, "_SIZES": {60: 2}}


def measure() -> list[Measurement]:
    """Rank by single games, with as many drawn as there are; the cost must not depend on how many there are."""
    measurements = []
    fastest = None
    for size, n in _SIZES.items():
        games = simulated_games(size)
        counts, counting = timed(partial(count_wins, games), repeats=20)
        histogram, seconds = timed(partial(published_rank_counts, counts, size, REPLICATES, 0), repeats=20)
        fastest = fastest or seconds
        theirs, rival_seconds = timed(partial(_plain, games, n))
        ours = histogram / REPLICATES
        rival = rival_seconds * REPLICATES / n
        apart, chance = float(np.abs(ours - theirs).max()), 4 * math.sqrt(0.25 / n)
        measurements.append(
            Measurement(
                work=f"rank ranges, {size:,} games x {REPLICATES:,} replicates",
                rival="plain Python resampling",
                seconds=counting + seconds,
                rival_seconds=rival,
                scaled=f"from {n} replicates",
                agreement=f"shares of ranks within {apart:.2f} (chance: {chance:.2f});"
                f" {seconds / fastest:.1f}x the time of {min(_SIZES):,} games, counting ({counting:.4f} s) aside",
                goal=">= 100x, cost independent of the number of games",
                reached=rival / (counting + seconds) >= 100 and apart < chance and seconds < 2 * fastest,
            )
        )
    return measurements


def _plain(games: Games, n_replicates: int) -> FloatArray:
    """Draw games with replacement, count wins and games of each bot, sort; return each bot's share of each rank."""
    matches = list(zip(games.first.tolist(), games.second.tolist(), games.outcome.tolist(), strict=True))
    generator, k = random.Random(0), len(games.bots)
    shares = np.zeros((k, k))
    for _ in range(n_replicates):
        wins, played = Counter[int](), Counter[int]()
        for first, second, outcome in generator.choices(matches, k=len(matches)):
            played[first] += 1
            played[second] += 1
            if outcome:
                wins[first if outcome > 0 else second] += 1
        for rank, bot in enumerate(sorted(range(k), key=lambda bot: -wins[bot] / played[bot])):
            shares[bot, rank] += 1 / n_replicates
    return shares
