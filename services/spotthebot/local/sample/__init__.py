"""The sample corpus: everyday dialogues written for this project, which replace human-human conversations."""

import json
from importlib.resources import files
from typing import Any

NAME = "sample"
DOMAIN = "everyday"
ORIGIN = "Written for this project as sample data; no recorded conversations of real people."
LICENCE = "Apache-2.0"


def sample_dialogues() -> list[dict[str, Any]]:
    """Return the dialogues in the form of `/v1/corpora/{id}/dialogues`: key, split, turns."""
    with files(__name__).joinpath("everyday.jsonl").open("rb") as lines:
        rows = [json.loads(line) for line in lines]
    return [{"key": row["key"], "split": row["split"], "turns": row["turns"]} for row in rows]
