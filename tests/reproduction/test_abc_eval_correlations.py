"""The default correlation of the planner of ratings: turns of one dialogue in the published labels of ABC-Eval."""

import json

import numpy as np
import pytest

from spotthebot.analytics.stats.intraclass_correlation import intraclass_correlation
from spotthebot.analytics.stats.rating_power import RatingDesign
from tests.factories.published_dump import SHARED


class TestDialogueCorrelation:
    def test_is_the_largest_of_nine_behaviours(self):
        found = {behaviour: round(each, 2) for behaviour, each in _correlations().items()}
        assert len(found) == 9
        assert max(found.values()) == found["incorrect fact"] == RatingDesign().dialogue_correlation
        assert min(found.values()) == found["ignore"] == 0.03


def _correlations() -> dict[str, float]:
    """Return the correlation of turns that one annotator labelled in a dialogue, within bots: the mean of two labels.

    Labels name no annotators: the first and the second label of a turn are taken apart.
    """
    file = SHARED / "data" / "abc-eval" / "behavior_labels_double_annotated.json"
    if not file.is_file():
        pytest.skip("the doubly annotated turns ../shared/data/abc-eval are not here")
    rows: dict[str, list[tuple[int, str, int, int]]] = {}
    for dialogue, (name, exchanges) in enumerate(json.loads(file.read_text()).items()):
        for exchange in exchanges:
            for behaviour, labels in exchange["behaviors"].items():
                rows.setdefault(behaviour, []).append((dialogue, name.split("_", 1)[1], *labels["human"]))
    return {behaviour: float(np.mean([_within(each, at) for at in (2, 3)])) for behaviour, each in rows.items()}


def _within(rows: list[tuple[int, str, int, int]], label: int) -> float:
    _, bot = np.unique([row[1] for row in rows], return_inverse=True)
    value = np.array([row[label] for row in rows], dtype=float)
    deviation = value - (np.bincount(bot, weights=value) / np.bincount(bot))[bot]
    return intraclass_correlation(deviation, np.array([row[0] for row in rows]), bot)
