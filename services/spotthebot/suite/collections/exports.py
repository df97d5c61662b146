"""Brings exported conversations back: the file that `./stb collect --export` wrote, or one downloaded as NDJSON."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from spotthebot.contracts.conversations import CollectionOut, ExportedConversation, ImportedOut
from spotthebot.kit.client import ServiceClient
from spotthebot.suite.errors import NotAnExport
from spotthebot.suite.progress import Step, Steps

_FILE = "conversations.jsonl"
_PIECE_BYTES = 256 * 1024
_LONGEST_LINE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class Export:
    """A file of exported conversations; `first` is the first of them, which says what collection it was."""

    file: Path
    first: ExportedConversation


def open_export(path: Path) -> Export:
    """Find the file and look into it; raises NotAnExport, and OSError where it can't be read."""
    file = path / _FILE if path.is_dir() else path
    if not file.is_file():
        reason = f"there is no {_FILE} in it." if path.is_dir() else "there is no such file."
        raise NotAnExport(path=path, reason=reason)
    with file.open("rb") as lines:
        while (line := lines.readline(_LONGEST_LINE_BYTES)) and not line.strip():
            pass
    if not line:
        raise NotAnExport(path=file, reason="it is empty.")
    try:
        return Export(file, ExportedConversation.model_validate_json(line))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = "/".join(map(str, fault["loc"]))
        reason = f"its first line does not hold one ({place + ': ' if place else ''}{fault['msg']})."
        raise NotAnExport(path=file, reason=reason) from error


async def import_export(
    conversations: ServiceClient, export: Export, name: str | None, steps: Steps
) -> tuple[CollectionOut, ImportedOut]:
    """Upload an export to the import collection of this name, else of its own; can be repeated, and goes on."""
    collection = await _find_or_create(conversations, name or export.first.collection, export.first.domain)
    path = f"/v1/collections/{collection['id']}"
    with steps.step(f"Sending {export.file.name}", export.file.stat().st_size) as step:
        done = await conversations.send(f"{path}/uploads", _pieces(export.file, step))
    return CollectionOut.model_validate(await conversations.get(path)), ImportedOut.model_validate(done)


async def _find_or_create(conversations: ServiceClient, name: str, domain: str) -> dict[str, Any]:
    async for found in conversations.pages("/v1/collections", {"name": name}):
        if found["mode"] == "import" and found["domain"] == domain:
            return dict(found)
    request = {"mode": "import", "name": name, "domain": domain}
    key = hashlib.sha256(f"{domain}/{name}".encode()).hexdigest()
    created: dict[str, Any] = await conversations.post("/v1/collections", request, idempotency_key=f"import/{key}")
    return created


async def _pieces(file: Path, step: Step) -> AsyncIterator[bytes]:
    with file.open("rb") as opened:
        while piece := await asyncio.to_thread(opened.read, _PIECE_BYTES):
            yield piece
            step.advance(len(piece))
