"""Keeps the answers of endpoints by the content of the request, so that no answer is paid twice.

It has no prompt and no key: the name of an entry is a hash of address, model and request.
"""

import hashlib
import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spotthebot.judges.endpoint.completions import Completion


class AnswerCache:
    """Answers in a folder, one file each. Several runs may use it at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, key: str) -> Completion | None:
        """Return the answer to a request; None if it is not kept, or its file is damaged."""
        try:
            kept = json.loads(self._path(key).read_bytes())
            tokens = tuple(tuple((str(text), float(share)) for text, share in each) for each in kept["tokens"])
            return Completion(**(kept | {"tokens": tokens}))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def keep(self, key: str, completion: Completion) -> None:
        """Keep an answer; a reader never sees half of it."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as written:
            json.dump(asdict(completion), written)
        Path(written.name).replace(path)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def key_of(url: str, request: dict[str, Any], repeat: int) -> str:
    """Return the hash of a request. Each repeat of a run asks again."""
    content = json.dumps([url, request, repeat], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()
