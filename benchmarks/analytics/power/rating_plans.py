"""The power that the planner promises for ratings and behaviours, beside the power in simulated studies.

`python -m benchmarks.analytics.power.rating_plans [--simulations N] [--first-seed S]`. A study is drawn with the
design's correlations, and `rating_differences` tests whether the first bot differs from each other bot. The others are
equal. Ratings are normal with standard deviation 1, and add effects of dialogues and of annotators' taste for each bot.
Behaviours are 1 with a probability that dialogues, or annotators for each bot, draw from a beta distribution, whose
intraclass correlation is known exactly.
"""

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from benchmarks.analytics.power.oracle import LEVEL
from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.rating_differences import rating_differences
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.rating_power import RatingDesign, effect_of_shares, rating_power
from spotthebot.statistics.adjustment import Adjustment, adjust


@dataclass(frozen=True)
class Cell:
    """A design with `dialogues` dialogues of each bot.

    `effect` is Cohen's d of ratings, or the shares of the first bot and of the others. Of behaviours only one of the
    design's correlations is above 0.
    """

    design: RatingDesign
    dialogues: int
    effect: float | tuple[float, float]

    @property
    def planned(self) -> float:
        """The power that the planner promises."""
        effect = self.effect if isinstance(self.effect, float) else effect_of_shares(*self.effect)
        return rating_power(effect, self.dialogues, self.design, significance_level=LEVEL)


def _design(
    dialogue: float = 0.0,
    annotator: float = 0.0,
    annotators: int | None = None,
    *,
    bots: int = 2,
    values: int = 1,
    annotations: int = 1,
) -> RatingDesign:
    return RatingDesign(
        bots=bots,
        annotations_per_dialogue=annotations,
        values_per_annotation=values,
        dialogue_correlation=dialogue,
        annotator_correlation=annotator,
        annotators=annotators,
    )


CELLS: Final[Mapping[str, Cell]] = MappingProxyType(
    {
        "ratings, independent": Cell(_design(), 100, 0.4),
        "ratings, 12 annotators alike": Cell(_design(annotators=12), 100, 0.4),
        "ratings, 12 annotators": Cell(_design(0, 0.1, 12), 100, 0.6),
        "ratings, 40 annotators": Cell(_design(0, 0.1, 40), 100, 0.45),
        "ratings of 15 turns": Cell(_design(0.2, values=15), 40, 0.33),
        "ratings of 10 turns, 40 annotators": Cell(_design(0.2, 0.05, 40, values=10), 50, 0.33),
        "ratings by two annotators each, 40 annotators": Cell(_design(0.3, 0.1, 40, annotations=2), 100, 0.4),
        "ratings of 4 bots, 12 annotators": Cell(_design(0, 0.1, 12, bots=4), 100, 0.75),
        "ratings of 4 bots, 40 annotators": Cell(_design(0, 0.1, 40, bots=4), 100, 0.55),
        "ratings of 10 turns, 4 bots, 40 annotators": Cell(_design(0.2, 0.05, 40, bots=4, values=10), 80, 0.33),
        "behaviours, independent": Cell(_design(), 130, (0.3, 0.15)),
        "behaviours, 12 annotators": Cell(_design(0, 0.1, 12), 100, (0.4, 0.15)),
        "behaviours, 40 annotators": Cell(_design(0, 0.1, 40), 100, (0.35, 0.15)),
        "behaviours in 15 turns": Cell(_design(0.2, values=15), 80, (0.3, 0.2)),
        "ratings of 10 turns, 4 bots, 12 annotators": Cell(_design(0.2, 0.05, 12, bots=4, values=10), 80, 0.45),
        "behaviours in 15 turns, 4 bots": Cell(_design(0.2, bots=4, values=15), 80, (0.3, 0.18)),
        "behaviours of 4 bots, 40 annotators": Cell(_design(0, 0.1, 40, bots=4), 150, (0.35, 0.15)),
    }
)


def draw_study(cell: Cell, rng: np.random.Generator) -> Ratings:
    """Draw the ratings of one study. Annotators share the work evenly, and dialogues are in random order."""
    design = cell.design
    each, values = int(design.annotations_per_dialogue), int(design.values_per_annotation)
    dialogue_bot = rng.permutation(np.repeat(np.arange(design.bots), cell.dialogues))
    annotations = len(dialogue_bot) * each
    annotators = annotations if design.annotators is None else design.annotators
    rounds = [rng.permutation(annotators) for _ in range(-(-annotations // annotators))]
    annotator = np.repeat(np.concatenate(rounds)[:annotations], values)
    dialogue = np.repeat(np.arange(len(dialogue_bot)), each * values)
    bot = dialogue_bot[dialogue]
    drawn = _rated if isinstance(cell.effect, float) else _shown
    value = drawn(cell, rng, bot, dialogue, annotator)
    return Ratings(tuple(f"bot {at}" for at in range(design.bots)), bot, dialogue, annotator, value)


def _rated(cell: Cell, rng: np.random.Generator, bot: IntArray, dialogue: IntArray, annotator: IntArray) -> FloatArray:
    design = cell.design
    taste = design.annotator_correlation
    # Turns of one annotation have the annotator in common, too.
    alone = design.annotations_per_dialogue == 1
    of_dialogue = max(0.0, design.dialogue_correlation - taste) if alone else design.dialogue_correlation
    value: FloatArray = rng.normal(0, math.sqrt(1 - taste - of_dialogue), len(bot))
    value += rng.normal(0, math.sqrt(of_dialogue), dialogue.max() + 1)[dialogue]
    value += rng.normal(0, math.sqrt(taste), (annotator.max() + 1, design.bots))[annotator, bot]
    value[bot == 0] += np.max(cell.effect)
    return value


def _shown(cell: Cell, rng: np.random.Generator, bot: IntArray, dialogue: IntArray, annotator: IntArray) -> FloatArray:
    design = cell.design
    first, others = np.broadcast_to(cell.effect, 2)
    share = np.where(np.arange(design.bots) == 0, first, others)
    probability: FloatArray = share[bot]
    if design.annotator_correlation:
        shape = (int(annotator.max()) + 1, design.bots)
        probability = _beta(rng, share, design.annotator_correlation, shape)[annotator, bot]
    elif design.dialogue_correlation:
        shape = (int(dialogue.max()) + 1, design.bots)
        probability = _beta(rng, share, design.dialogue_correlation, shape)[dialogue, bot]
    return (rng.random(len(bot)) < probability).astype(np.float64)


def _beta(rng: np.random.Generator, share: FloatArray, correlation: float, shape: tuple[int, int]) -> FloatArray:
    """Draw probabilities with these means, whose values of 0 and 1 have the intraclass correlation."""
    size = (1 - correlation) / correlation
    return rng.beta(share * size, (1 - share) * size, shape)


def power_found(cell: Cell, simulations: int, first_seed: int = 0) -> dict[str, float]:
    """Return in which share of tests the first bot is told apart, by each correction, and the standard error."""
    corrections = (Adjustment.BONFERRONI, Adjustment.HOLM)
    found = {correction: np.zeros(simulations) for correction in corrections}
    for at in range(simulations):
        ratings = draw_study(cell, np.random.default_rng([36, first_seed + at]))
        tests = rating_differences(ratings, adjustment=Adjustment.NONE)
        p_values = np.array([1.0 if test.p_value is None else test.p_value for test in tests])
        of_first = np.array([test.bot == ratings.bots[0] for test in tests])
        for correction in corrections:
            found[correction][at] = np.mean(adjust(p_values, correction)[of_first] < LEVEL)
    result = {str(correction): float(np.mean(each)) for correction, each in found.items()}
    return result | {"error": float(np.std(found[Adjustment.BONFERRONI]) / math.sqrt(simulations))}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, each row when it is counted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analytics.power.rating_plans")
    parser.add_argument("--simulations", type=int, default=2000, help="studies a cell")
    parser.add_argument("--first-seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    _say("Cell", "Dialogues a bot", "Effect", "Planned", "Found", "Standard error", "Found minus planned", "With Holm")
    _say(*["---"] * 8)
    for name, cell in CELLS.items():
        found = power_found(cell, chosen.simulations, chosen.first_seed)
        effect = f"{cell.effect:g}" if isinstance(cell.effect, float) else "{:g} and {:g}".format(*cell.effect)
        gap = f"{found['bonferroni'] - cell.planned:+.3f}"
        shares = (f"{each:.3f}" for each in (cell.planned, found["bonferroni"], found["error"]))
        _say(name, str(cell.dialogues), effect, *shares, gap, f"{found['holm']:.3f}")


def _say(*columns: str) -> None:
    print(f"| {' | '.join(columns)} |", flush=True)  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()
