"""An importer of chat logs: `bot: text` and `person: text`, with an empty line between conversations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield each conversation of a log as `POST /v1/collections/{id}/conversations` takes it."""
    for number, block in enumerate(path.read_text(encoding="utf-8").split("\n\n"), 1):
        lines = [line.partition(": ") for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        first = lines[0][0]
        people = {"kind": "human", "name": "HU"}
        bot = {"kind": "bot", "name": "acme-bot"}
        yield {
            "external_id": f"{path.stem}-{number}",
            "participants": [people, bot] if first == "person" else [bot, people],
            "turns": [{"speaker": "A" if who == first else "B", "text": text} for who, _, text in lines],
        }
