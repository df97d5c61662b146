"""The sample corpus: everyday dialogues written for this project, which stand in for human-human conversations."""

import json
from importlib.resources import files
from typing import Any

NAME = "sample"
DOMAIN = "everyday"
ORIGIN = "Written for this project as sample data; no recorded conversations of real people."
LICENCE = "Apache-2.0"


def sample_dialogues() -> list[dict[str, Any]]:
    """Return the dialogues as `/v1/corpora/{id}/dialogues` takes them: key, split, turns."""
    with files(__name__).joinpath("everyday.jsonl").open("rb") as lines:
        rows = [json.loads(line) for line in lines]
    return [{"key": row["key"], "split": row["split"], "turns": row["turns"]} for row in rows]
