"""Repeated texts, and bots of whom each met two others alone: false claims, coverage, and power beside an oracle.

`python -m benchmarks.analytics.coverage.sparse [--simulations N]`. The oracle knows the spread of the same estimates:
its critical value is that of the largest difference over its true standard deviation among equal bots.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.analytics.coverage.tallies import Tallies
from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray
from spotthebot.analytics.stats.davidson import rate_davidson
from spotthebot.analytics.stats.ranking import Ranking, rank_bots
from spotthebot.analytics.stats.wins import Games, play_games
from tests.factories.clustered_campaigns import Setting, draw_labels

_BOT, _HUMAN = np.array([0.35, 0.45, 0.55]), np.array([0.45, 0.38, 0.30])
_STEP = 0.06
SETTINGS = tuple(
    Setting(k, per_pair, annotators, correlation, taste=correlation > 0)
    for k, per_pair in ((4, 20), (6, 20))
    for annotators in (6, 12, 40)
    for correlation in (0.0, 0.18)
)


def campaign(setting: Setting, seed: int, *, equal: bool, copies: int = 1) -> AnnotationTable:
    """Draw a campaign of equal bots, or of bots each of which is taken for human more often than the one before."""
    better = np.zeros(setting.k) if equal else _STEP * (np.arange(setting.k) - (setting.k - 1) / 2)
    bot, human = _BOT - better[:, None], _HUMAN + better[:, None]
    return draw_labels(setting, bot, human, np.random.default_rng([seed, equal, copies]), copies=copies)


def ring(table: AnnotationTable) -> Games:
    """Keep the games of bots that are neighbours on a ring: each met two others."""
    k = len(table.names)
    apart = np.abs(table.entity[:, 0] - table.entity[:, 1])
    return play_games(table.select((apart == 1) | (apart == k - 1)))


def tally_ring(setting: Setting, seed: int) -> Tallies:
    """Count strengths of equal bots that are held, and false claims of ranks by strengths."""
    games = ring(campaign(setting, seed, equal=True))
    strengths = [bot for bot in rate_davidson(games).bots if bot.low is not None and bot.high is not None]
    held = sum((bot.low or 0.0) <= 0 <= (bot.high or 0.0) for bot in strengths)
    return {
        "ring: strengths, equal bots": (held, len(strengths)),
        "ring: ranks, any false claim": (_claims(rank_bots(games, n_resamples=1)) > 0, 1),
    }


def tally_copies(setting: Setting, seed: int) -> Tallies:
    """Count false claims of ranks where each ten conversations have one text, told and not told of it."""
    table = campaign(setting, seed, equal=True, copies=10)
    alone = replace(table, text=table.conversation)
    rankings = {name: rank_bots(play_games(each), n_resamples=1) for name, each in (("", table), (", untold", alone))}
    tallies: Tallies = {}
    for name, ranking in rankings.items():
        held = sum((bot.low or 0.0) <= 0.5 <= (bot.high or 1.0) for bot in ranking.bots)
        tallies[f"copies{name}: win rates, equal bots"] = (held, len(ranking.bots))
        tallies[f"copies{name}: ranks, any false claim"] = (_claims(ranking) > 0, 1)
    return tallies


def power(setting: Setting, simulations: int, *, copies: int) -> tuple[float, float]:
    """Return the shares of pairs told apart by ranks, and by the oracle; of a ring without copies, else of all."""

    def games(seed: int, *, equal: bool) -> Games:
        table = campaign(setting, seed, equal=equal, copies=copies)
        return play_games(table) if copies > 1 else ring(table)

    def values(ranking: Ranking, of: Games) -> FloatArray:
        found = ranking.bots if copies > 1 else rate_davidson(of).bots
        by_name = {bot.bot: bot.estimate or 0.0 for bot in found}
        return np.array([by_name[name] for name in of.bots])

    first, second = np.triu_indices(setting.k, 1)
    gaps: dict[bool, list[FloatArray]] = {True: [], False: []}
    claimed = 0
    for seed in range(simulations):
        for equal in (True, False):
            drawn = games(seed, equal=equal)
            ranking = rank_bots(drawn, n_resamples=1)
            estimate = values(ranking, drawn)
            gaps[equal].append(estimate[first] - estimate[second])
            claimed += 0 if equal else _claims(ranking)
    alike, apart = np.array(gaps[True]), np.array(gaps[False])
    critical = np.quantile(np.max(np.abs(alike) / alike.std(axis=0), axis=1), 0.95)
    found = float(np.mean(np.abs(apart) / alike.std(axis=0) > critical))
    return claimed / (simulations * len(first)), found


def _claims(ranking: Ranking) -> int:
    """Count the claims that one bot is better than another."""
    return sum((bot.rank_low or 1) - 1 for bot in ranking.bots)


def _lines(simulations: int) -> Iterator[str]:
    for setting in SETTINGS:
        held, counted = defaultdict[str, int](int), defaultdict[str, int](int)
        for seed in range(simulations):
            for kind, (holds, of) in (tally_ring(setting, seed) | tally_copies(setting, seed)).items():
                held[kind] += holds
                counted[kind] += of
        shown = ", ".join(f"{kind} {held[kind] / counted[kind]:.1%}" for kind in held)
        powers = ", ".join(
            f"power {name} {today:.3f} of {oracle:.3f}"
            for name, copies in (("ring", 1), ("copies", 10))
            for today, oracle in (power(setting, simulations, copies=copies),)
        )
        yield f"{setting.k} bots, {setting.annotators} annotators, ICC {setting.correlation:g}: {shown}; {powers}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.coverage.sparse")
    parser.add_argument("--simulations", type=int, default=200, help="campaigns a cell")
    for line in _lines(parser.parse_args().simulations):
        print(line, flush=True)  # noqa: T201 - the rows are the output
