"""Reads the published Spot The Bot dump, and the reference numbers made from it, as the statistics want them."""

import json
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spotthebot.analytics.stats.annotations import AnnotationTable, LabelCode

SHARED = Path(__file__).parents[3] / "shared"
DATA = SHARED / "data" / "spot-the-bot"
REFERENCE = SHARED / "reference"

_NAMES = {
    "bert_rank": "BR",
    "suckybot": "DR",
    "seq2seq_att": "S2",
    "kvmemnn": "KV",
    "lost_in_conversation": "LC",
    "model": "BL",
    "huggingface": "GPT",
    "human": "HU",
}
_LABELS = {True: LabelCode.HUMAN, None: LabelCode.UNSURE, False: LabelCode.BOT}
_FEATURES = {
    "fluency": "fluencyValue",
    "specificity": "specificityValue",
    "sensibleness": "sensitivenessValue",
}


@cache
def reference(path: str) -> Any:
    """Parse a JSON file below the shared reference folder, or skip the test."""
    file = REFERENCE / path
    if not file.is_file():
        pytest.skip(f"the reference numbers ../shared/reference/{path} are not here")
    return json.loads(file.read_text())


@cache
def published_table(domain: str, package_filter: str) -> AnnotationTable:
    """Read one domain's annotations, or skip the test.

    "pkg" drops the annotations of a worker in a package of which the worker did not see all conversations; "none"
    keeps everything. Names stand in the order of the reference, so its matrices can be compared as they are.
    """
    if not DATA.is_dir():
        pytest.skip("the published annotations ../shared/data/spot-the-bot are not here")
    speakers = {
        row["_id"]["$oid"]: (_NAMES[row["system_type0"]], _NAMES[row["system_type1"]])
        for row in _rows("sampled-dialogues-full", domain)
    }
    annotations = _rows("annotated-dialogues-full", domain)
    if package_filter == "pkg":
        annotations = _complete_packages(annotations, domain)
    names = tuple(reference(f"spot-the-bot/{domain}.json")["all_entities"])
    sides = [(row["entity0_annotation"], row["entity1_annotation"]) for row in annotations]
    return AnnotationTable(
        names=names,
        conversation=_codes([row["convo_id"] for row in annotations]),
        entity=np.array([[names.index(name) for name in speakers[row["convo_id"]]] for row in annotations]),
        exchanges=np.array([first["decision_turn"] // 2 for first, _ in sides]),
        label=np.array([[_LABELS[side["is_human"]] for side in pair] for pair in sides]),
        annotator=_codes([row["user_name"] for row in annotations]),
        features={
            feature: np.array([[int(side[key]) for side in pair] for pair in sides])
            for feature, key in _FEATURES.items()
        },
    )


def _complete_packages(annotations: list[Any], domain: str) -> list[Any]:
    packages = {
        row["_id"]["$oid"]: {slot["convo_id"] for slot in row["package"]}
        for row in _rows("packed-dialogues-full", domain)
    }
    seen = defaultdict(set)
    for row in annotations:
        seen[row["package_id"], row["user_name"]].add(row["convo_id"])
    return [row for row in annotations if seen[row["package_id"], row["user_name"]] == packages[row["package_id"]]]


def _rows(kind: str, domain: str) -> list[Any]:
    lines = (DATA / f"{kind}-{domain}.json").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _codes(values: list[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.unique(np.array(values), return_inverse=True)[1]
