"""Reads the published FED data, and the scores of DialoGPT-large that were published for it."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from spotthebot.fed.dialogues.domain.dialogues import Level
from spotthebot.fed.dialogues.domain.published_data import DIMENSION_OF_LABEL, RatedDialogue, parse_published
from spotthebot.fed.dimension_sets.domain.published_dimensions import DIALOGUE_LEVEL, FED, TURN_LEVEL
from spotthebot.fed.scores.domain.length_baseline import context_length
from tests.factories.published_dump import SHARED

DATA = SHARED / "data" / "fed"
_FILES = {Level.TURN: "turn_level_FU_scores.jsonl", Level.DIALOGUE: "dialog_level_FU_scores.jsonl"}


@dataclass(frozen=True)
class PublishedScores:
    """The items of a level with their published scores (items) by dimension."""

    items: tuple[RatedDialogue, ...]
    inputs: tuple[str, ...]
    scores: dict[str, np.ndarray]

    @property
    def lengths(self) -> np.ndarray:
        return np.array([context_length(item.dialogue.texts) for item in self.items])

    @property
    def turns(self) -> np.ndarray:
        return np.array([len(item.dialogue.turns) for item in self.items])

    def ratings(self, label: str) -> np.ndarray:
        return np.array([item.mean_rating(label) for item in self.items])

    def scores_of(self, label: str) -> np.ndarray:
        """Return the scores of a label's dimension; `Overall` is the mean of all 18."""
        if label.startswith("Overall"):
            names = {"mean_turn8": TURN_LEVEL, "mean_dialog10": DIALOGUE_LEVEL}.get(
                label.rpartition("/")[2], FED.dimensions
            )
            return np.mean([self.scores[each.name] for each in names], axis=0)
        return self.scores[DIMENSION_OF_LABEL.get(label, label.lower())]


@cache
def published_scores(level: Level) -> PublishedScores:
    """Read one level's items and scores, or skip the test."""
    if not DATA.is_dir():
        pytest.skip("the published FED data ../shared/data/fed is not here")
    entries = json.loads((DATA / "fed_data.json").read_text())
    items = [parse_published(entry, number) for number, entry in enumerate(entries)]
    rows = _documents((DATA / _FILES[level]).read_text())
    return PublishedScores(
        items=tuple(item for item in items if item.level is level),
        inputs=tuple(row["input"] for row in rows),
        scores={each.name: np.array([row["score"][each.name] for row in rows]) for each in FED.dimensions},
    )


def _documents(text: str) -> list[dict[str, Any]]:
    """Read JSON objects that stand one after the other."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text):
        document, end = decoder.raw_decode(text, at)
        found.append(document)
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return found
