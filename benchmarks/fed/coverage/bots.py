"""Mean scores of bots, their differences and ranks: coverage, and power beside an oracle, now and as it was before.

`python -m benchmarks.fed.coverage.bots [--simulations N] [--processes N]`. Five bots have scores of three turns in each
of their dialogues. A score has effects of the bot, its partner, the opening, the bot with the opening, the dialogue and
the turn. Partners are given: the truth is about other openings with the same partners. "Before" is the bootstrap over
each bot's own dialogues. A pair is found if a bot is significantly better, and before if the two had no rank in common.
A claim is false if all bots are equal and one cannot have every rank. The oracle knows the standard deviations of all
differences.
"""

import argparse
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from benchmarks.analytics.power.oracle import LEVEL, power_of_oracle
from benchmarks.fed.coverage.dialogue_bootstrap import bounds_and_ranks
from benchmarks.tables import markdown_table
from spotthebot.fed.stats.bot_scores import MIN_CLUSTERS, score_bots
from spotthebot.fed.stats.mean_scores import MeanScores
from spotthebot.statistics.arrays import FloatArray, IntArray

_K: Final = 5
_MEANS: Final = np.array([0.0, 0.1, 0.2, 0.4, 0.8])
"""True scores of the five bots."""
_TURNS: Final = 3
_RESAMPLES: Final = 1000
_PARTNERS: Final = np.array([-0.3, 0.3])
_OPENING, _WITH_BOT, _DIALOGUE = 0.2, 0.1, 0.3
"""The shares of the variance within bots that are of openings, of bots with openings, and of dialogues."""

OWN: Final = "own dialogues and openings"
PAIRS: Final = "two bots a dialogue"
ONCE: Final = "same openings, each once a bot"
CROSSED: Final = "same openings, each with both partners"
NAMES: Final = ("Dialogues", "of each bot", "Scores")
WIDTH: Final = "width by before"
COVERAGE: Final = ("mean", "mean, before", "mean, Student's t alone", WIDTH, "difference")
CLAIMS: Final = ("all ranks", "all ranks, before", "oracle", "power", "power, before", "false", "false, before")


@dataclass(frozen=True)
class Scores:
    """The n scores of a sample, as columns: the bot, its dialogue and opening, and the score."""

    bot: IntArray
    dialogue: IntArray
    opening: IntArray
    score: FloatArray


@dataclass(frozen=True)
class Played:
    """Five bots with as many dialogues each; the logarithms of skewed scores have a standard deviation of 0.7."""

    design: str
    dialogues: int
    is_skewed: bool

    @property
    def columns(self) -> tuple[str, ...]:
        return self.design, str(self.dialogues), "skewed" if self.is_skewed else "normal"

    def draw(self, chance: np.random.Generator, means: FloatArray) -> Scores:
        """Draw a sample of bots with these true scores; partners add nothing to the mean of a bot."""
        bot, dialogue, opening, partner = self._plan()
        effects = np.sqrt(_OPENING) * chance.normal(size=opening.max() + 1)[opening]
        effects += np.sqrt(_WITH_BOT) * chance.normal(size=(opening.max() + 1, _K))[opening, bot]
        effects += np.sqrt(_DIALOGUE) * chance.normal(size=dialogue.max() + 1)[dialogue]
        left = np.sqrt(1 - _OPENING - _WITH_BOT - _DIALOGUE)
        scores = effects[:, None] + left * chance.normal(size=(len(bot), _TURNS))
        if self.is_skewed:
            scores = np.exp(0.7 * scores) - np.exp(0.7**2 / 2)
        scores += (means[bot] + partner)[:, None]
        bot, dialogue, opening = (np.repeat(each, _TURNS) for each in (bot, dialogue, opening))
        return Scores(bot, dialogue, opening, scores.ravel())

    def _plan(self) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """Return bot, dialogue, opening and the effect of the partner, of each bot in each of its dialogues."""
        bot, number = (each.ravel() for each in np.indices((_K, self.dialogues)))
        alone, by_turns = np.arange(len(bot)), _PARTNERS[number % 2]
        match self.design:
            case "two bots a dialogue":
                pairs = np.repeat(np.column_stack(np.triu_indices(_K, 1)), self.dialogues // (_K - 1), axis=0)
                both = np.repeat(np.arange(len(pairs)), 2)
                return pairs.ravel(), both, both, np.zeros(len(both))
            case "same openings, each once a bot":
                return bot, alone, number, by_turns - by_turns[: self.dialogues].mean()
            case "same openings, each with both partners":
                return bot, alone, number // 2, by_turns
        return bot, alone, alone, by_turns - by_turns[: self.dialogues].mean()


def measure(task: tuple[Played, int]) -> dict[str, float]:
    """Return the share of intervals and ranks that hold the truth, of found differences, and of false claims."""
    cell, simulations = task
    first, second = np.triu_indices(_K, 1)
    held: dict[str, list[float]] = {each: [] for each in (*COVERAGE, *CLAIMS) if each != "oracle"}
    gaps: dict[bool, list[FloatArray]] = {True: [], False: []}
    for seed in range(simulations):
        for equal in (True, False):
            means = np.zeros(_K) if equal else _MEANS
            drawn = cell.draw(np.random.default_rng([seed, 41, equal]), means)
            low, high, best, worst = _now(drawn, seed)
            before = bounds_and_ranks(drawn.bot, drawn.score, drawn.dialogue, _K, _RESAMPLES, seed)
            found = MeanScores.of(drawn.bot, drawn.score, drawn.opening, _K)
            leads, errors, degrees = found.differences(first, second)
            gaps[equal].append(leads)
            if equal:
                held["false"].append(_excludes_a_rank(best, worst))
                held["false, before"].append(_excludes_a_rank(*before[2:]))
                continue
            held["mean"] += ((low <= means) & (means <= high)).tolist()
            held["mean, before"] += ((before[0] <= means) & (means <= before[1])).tolist()
            reach = scipy.stats.t.ppf(0.975, found.degrees) * found.errors
            held["mean, Student's t alone"] += (np.abs(found.means - means) <= reach).tolist()
            held["width by before"].append(float(np.mean((high - low) / (before[1] - before[0]))))
            apart = np.abs(leads - (means[first] - means[second]))
            held["difference"] += (apart <= scipy.stats.t.ppf(0.975, degrees) * errors).tolist()
            held["all ranks"].append(_hold(best, worst))
            held["all ranks, before"].append(_hold(*before[2:]))
            better = found.better(LEVEL, least=MIN_CLUSTERS)
            held["power"] += (better | better.T)[first, second].tolist()
            held["power, before"] += (
                (before[3][first] < before[2][second]) | (before[3][second] < before[2][first])
            ).tolist()
    shares = {kind: float(np.mean(each)) for kind, each in held.items()}
    return shares | {"oracle": power_of_oracle(np.array(gaps[True]), np.array(gaps[False]))}


def _now(drawn: Scores, seed: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    bots = [str(each) for each in drawn.bot]
    found = score_bots(drawn.score, bots, drawn.dialogue, drawn.opening, n_resamples=_RESAMPLES, seed=seed)
    rows = sorted(found.bots, key=lambda each: each.bot)
    columns = np.array([(each.low, each.high, each.rank_low, each.rank_high) for each in rows], dtype=np.float64)
    low, high, best, worst = columns.T
    return low, high, best, worst


def _excludes_a_rank(best: FloatArray, worst: FloatArray) -> bool:
    """Return whether some bot cannot have every rank: a false claim if all bots are equal."""
    return bool(np.any(best > 1) or np.any(worst < _K))


def _hold(best: FloatArray, worst: FloatArray) -> bool:
    """Return whether the ranges hold the true ranks of all bots at once."""
    ranks = np.arange(_K, 0, -1)
    return bool(np.all((best <= ranks) & (ranks <= worst)))


CELLS: Final = tuple(
    Played(design, dialogues, is_skewed)
    for design, sizes in ((OWN, (5, 8, 16, 32)), (PAIRS, (8, 16, 32)), (ONCE, (8, 16, 32)), (CROSSED, (10, 16, 32)))
    for dialogues in sizes
    for is_skewed in (False, True)
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables of coverage and of claims."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fed.coverage.bots")
    parser.add_argument("--simulations", type=int, default=600, help="samples a cell, of equal bots and of others")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="processes at once")
    chosen = parser.parse_args(arguments)
    with ProcessPoolExecutor(chosen.processes) as pool:
        found = [*pool.map(measure, [(cell, chosen.simulations) for cell in CELLS])]
    for kinds in (COVERAGE, CLAIMS):
        rows = [
            [
                *cell.columns,
                *(f"{shares[kind]:.2f}" if kind == COVERAGE[3] else f"{shares[kind]:.1%}" for kind in kinds),
            ]
            for cell, shares in zip(CELLS, found, strict=True)
        ]
        print(markdown_table((*NAMES, *kinds), rows), flush=True)  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()
