"""Draws the ratings whose mixed models are held against R: `python -m tests.golden.mixed_models.make_ratings`.

`balanced`: each of 8 annotators rated all 15 dialogues of each of 4 bots. `unbalanced`: 11 annotators rated between
none and all of 40 dialogues, and bots differ in their numbers of dialogues. `no_annotators`: annotators do not differ,
so that their variance is estimated as 0. Ratings go from 1 to 5. They are simulated.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

PATH = Path(__file__).parent / "ratings.csv"
_BOUNDS = np.array([-1.6, -0.5, 0.6, 1.7])


def main() -> None:
    """Write ratings.csv."""
    with PATH.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["data", "bot", "dialogue", "annotator", "value"])
        out.writerows(_rows())


def _rows() -> Iterator[tuple[str, str, str, str, int]]:
    draw = np.random.default_rng(356)
    yield from _study(draw, "balanced", (15, 15, 15, 15), annotators=8, share=1.0, leniency=0.7)
    yield from _study(draw, "unbalanced", (4, 8, 12, 16), annotators=11, share=0.35, leniency=0.5)
    yield from _study(draw, "no_annotators", (10, 10, 10), annotators=6, share=0.6, leniency=0.0)


def _study(
    draw: np.random.Generator, name: str, dialogues: tuple[int, ...], *, annotators: int, share: float, leniency: float
) -> Iterator[tuple[str, str, str, str, int]]:
    bot = np.repeat(np.arange(len(dialogues)), dialogues)
    of_dialogue, of_annotator = draw.normal(0, 0.6, len(bot)), draw.normal(0, leniency, annotators)
    diligence = share * draw.uniform(0.4, 1.6, annotators) if share < 1 else np.ones(annotators)
    for dialogue in range(len(bot)):
        for annotator in np.flatnonzero(draw.random(annotators) < diligence).tolist():
            latent = 0.5 * bot[dialogue] - 0.7 + of_dialogue[dialogue] + of_annotator[annotator] + draw.logistic()
            value = 1 + int(np.searchsorted(_BOUNDS, latent))
            yield name, f"bot {'ABCD'[bot[dialogue]]}", f"d{dialogue:02}", f"a{annotator:02}", value


if __name__ == "__main__":
    main()
