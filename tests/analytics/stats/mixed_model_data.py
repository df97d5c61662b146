"""The data sets of tests/golden/mixed_models with R's figures, and small studies."""

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from spotthebot.analytics.stats.mixed_models.results import MixedModel
from spotthebot.analytics.stats.rating_estimates import Ratings

_GOLDEN = Path(__file__).parents[2] / "golden"
DATA_SETS = ("balanced", "unbalanced", "no_annotators", "study")


@cache
def golden() -> Any:
    """Return R's figures."""
    return json.loads((_GOLDEN / "mixed_models" / "figures.json").read_text())


@cache
def data_set(name: str) -> Ratings:
    """Return one of `DATA_SETS`."""
    if name == "study":
        score = {"bot": 0, "unsure": 1, "human": 2}
        with (_GOLDEN / "study" / "annotations.csv").open() as file:
            sides = [
                (row[side], row["conversation"], row["annotator"], score[row[f"label_{side}"]])
                for row in csv.DictReader(file)
                for side in ("first", "second")
            ]
        return _ratings([side for side in sides if side[0] != "HU"])
    with (_GOLDEN / "mixed_models" / "ratings.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["data"] == name]
    return _ratings([(row["bot"], row["dialogue"], row["annotator"], float(row["value"])) for row in rows])


def _ratings(rows: list[tuple[str, str, str, float]]) -> Ratings:
    bot, dialogue, annotator, value = (np.array(column) for column in zip(*rows, strict=True))
    names, codes = np.unique(bot, return_inverse=True)
    return Ratings(tuple(names.tolist()), codes, dialogue, annotator, value)


def small_study(seed: int = 0) -> Ratings:
    """Return ratings from 1 to 5 of 2 bots with 6 dialogues each, all by 4 annotators, drawn without any effect."""
    bot, dialogue, annotator = (each.ravel() for each in np.meshgrid(range(2), range(6), range(4), indexing="ij"))
    value = np.random.default_rng(seed).integers(1, 6, len(bot)).astype(np.float64)
    return Ratings(("A", "B"), bot, dialogue + 6 * bot, annotator, value)


def deviations(found: MixedModel) -> dict[str, float]:
    """Return the standard deviation of each component, by R's names."""
    names = {"residual": "Residual"}
    return {names.get(each.grouping, each.grouping): each.standard_deviation for each in found.components}
