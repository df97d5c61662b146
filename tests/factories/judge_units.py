"""Segments of bots that give themselves away by a word or not, with labels of annotators, to train judges on."""

from itertools import combinations
from typing import Final, Literal

import numpy as np

from spotthebot.contracts.turns import Turn
from spotthebot.judges.trained.units import GivenLabel, Unit

SPEAKERS: Final = ("ada", "bob", "cyd", "dan")
_SIDES: Final[tuple[Literal["A", "B"], ...]] = ("A", "B")
_ROBOTIC: Final = "beep boop as a language model"
_WORDS: Final = (
    *("tea", "rain", "garden", "train", "bread", "window", "sister", "winter", "music", "river", "lamp", "letter"),
    *("paper", "cloud", "bicycle", "market", "coffee", "holiday", "kitchen", "street", "neighbour", "football"),
)


def units(*, per_pair: int = 12, revealing: bool = True, annotators: int = 10, seed: int = 0) -> list[Unit]:
    """Draw conversations of every two speakers, with two labels of each side.

    A robotic turn is labelled "bot" nine times in ten, others "human" seven times in ten; without `revealing`, chance
    draws the labels.
    """
    rng, found = np.random.default_rng(seed), []
    for first, second in combinations(SPEAKERS, 2):
        for number in range(per_pair):
            robotic = rng.random(2) < 0.5
            texts = [" ".join(rng.choice(_WORDS, 6)) for _ in range(4)]
            texts = [f"{text} {_ROBOTIC}" if robotic[at % 2] else text for at, text in enumerate(texts)]
            turns = tuple(Turn(speaker="AB"[at % 2], text=text) for at, text in enumerate(texts))
            for at, side in enumerate(_SIDES):
                chance = (0.1 if robotic[at] else 0.7) if revealing else 0.4
                who = rng.choice(annotators, 2, replace=False)
                labels = tuple(GivenLabel(f"ann{each}", bool(rng.random() < chance)) for each in sorted(who.tolist()))
                name = f"{first}-{second}-{number}"
                found.append(Unit(name, (first, second)[at], (second, first)[at], side, turns, labels))
    return found
