"""ABC-Eval's published tables and doubly annotated turns, and small tables of values that are as printed."""

import csv
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import scipy.stats

from spotthebot.analytics.values.domain.measure_values import Values
from spotthebot.contracts.annotation.measures import Measure, MeasureKind
from tests.factories.published_dump import SHARED

FOLDER = SHARED / "data" / "abc-eval"
_ENDS: Mapping[MeasureKind, tuple[float, float]] = {"scale": (1, 5), "share": (0, 1), "preference": (0, 1)}


def printed_rows(table: str) -> list[list[str]]:
    """Return the rows of a published table below its heading, or skip the test."""
    file = FOLDER / "published" / f"{table}.csv"
    if not file.is_file():
        pytest.skip(f"the published tables ../shared/data/abc-eval/published/{table}.csv are not here")
    with file.open(newline="") as lines:
        return [*csv.reader(lines)][1:]


def double_annotated() -> dict[str, list[dict[str, tuple[int, int]]]]:
    """Return the two people's labels of each behaviour of each turn, by dialogue, or skip the test."""
    file = FOLDER / "behavior_labels_double_annotated.json"
    if not file.is_file():
        pytest.skip("the doubly annotated turns ../shared/data/abc-eval are not here")
    return {
        dialogue: [
            {behaviour: tuple(labels["human"]) for behaviour, labels in turn["behaviors"].items()} for turn in turns
        ]
        for dialogue, turns in json.loads(file.read_text()).items()
    }


def is_printed(found: Sequence[float | None], texts: Sequence[str]) -> bool:
    """Return whether numbers are those that are printed, to half of the last digit or the rounding of doubles."""
    return all(
        value is not None and abs(value - float(text)) <= max(0.5 * 10 ** -len(text.partition(".")[2]), 1e-12) + 1e-12
        for value, text in zip(found, texts, strict=True)
    )


def values_of(kind: MeasureKind, given: Mapping[str, Sequence[float]]) -> Values:
    """Return values that bots got, fifteen turns a dialogue, by ten annotators in turn."""
    bot = np.repeat(np.arange(len(given)), [len(values) for values in given.values()])
    at = np.arange(len(bot))
    value = np.array([value for values in given.values() for value in values], dtype=np.float64)
    return Values(
        _measure(kind), tuple(given), at, at // 15, at % 10, bot, np.full(len(bot), -1), value, 0 * at, left_out=0
    )


def preferences_of(bot: str, against: Mapping[str, tuple[int, int, int]]) -> Values:
    """Return the comparisons of one bot with others: how often it lost, tied and won against each."""
    value = np.concatenate([np.repeat([0, 0.5, 1], counts) for counts in against.values()])
    other = np.repeat(np.arange(1, len(against) + 1), [sum(counts) for counts in against.values()])
    at = np.arange(len(value))
    return Values(_measure("preference"), (bot, *against), at, at, at % 10, 0 * at, other, value, 0 * at, left_out=0)


def whole_ratings(mean: str, low: str, high: str, n: int) -> list[int] | None:
    """Return n ratings from 1 to 5 of which this mean and this Student's interval are printed; None if there are none.

    The sum of the ratings follows from the mean. The sum of their squares follows from the width of the interval, which
    is 2 t s / sqrt(n).
    """
    quantile, half = scipy.stats.t.ppf(0.975, n - 1), 0.0005
    for total in _whole(n * (float(mean) - half), n * (float(mean) + half)):
        below, above = total / n - float(low), float(high) - total / n
        reach = (max(below, above) - half, min(below, above) + half)
        least, most = ((n - 1) * n * (each / quantile) ** 2 + total**2 / n for each in reach)
        for squares in _whole(least, most):
            if (counts := _counts(n, total - 3 * n, squares - 6 * total + 9 * n)) is not None:
                return np.repeat(np.arange(1, 6), counts).tolist()
    return None


def _counts(n: int, total: int, squares: int) -> tuple[int, int, int, int, int] | None:
    """Return how often each rating is given by the sums of the ratings less 3 and of their squares; None if none are.

    `ends` ratings are 1 or 5 and `inner` ones are 2 or 4.
    """
    for ends in range(max(0, math.ceil((squares - n) / 3)), squares // 4 + 1):
        inner = squares - 4 * ends
        for lead in range(-ends, ends + 1, 2):
            rest = total - 2 * lead
            if abs(rest) <= inner and (inner - rest) % 2 == 0:
                return (
                    (ends - lead) // 2,
                    (inner - rest) // 2,
                    n - ends - inner,
                    (inner + rest) // 2,
                    (ends + lead) // 2,
                )
    return None


def _whole(least: float, most: float) -> range:
    return range(math.ceil(least), math.floor(most) + 1)


def _measure(kind: MeasureKind) -> Measure:
    lowest, highest = _ENDS[kind]
    more: dict[str, Any] = {"lowest": lowest, "highest": highest, "better": "higher"}
    return Measure(measure="printed", question="?", level="turn", kind=kind, **more)
