"""Imports exported conversations: a file written by `./stb collect --export`, or downloaded as NDJSON."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from spotthebot.clients import AsyncConversations
from spotthebot.clients.import_collections import find_or_create
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.exports import ExportedConversation, ImportedOut
from spotthebot.importers.errors import NotAnExport
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.progress import Steps

_FILE = "conversations.jsonl"
_LONGEST_LINE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class Export:
    """A file of exported conversations; the `first` conversation describes the collection."""

    file: Path
    first: ExportedConversation


def open_export(path: Path) -> Export:
    """Find the file and read its beginning; raises NotAnExport, and OSError if it can't be read."""
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
        reason = f"its first line does not hold one ({faults_of(error)[0]})."
        raise NotAnExport(path=file, reason=reason) from error


async def import_export(
    conversations: AsyncConversations, export: Export, name: str | None, steps: Steps
) -> tuple[CollectionOut, ImportedOut]:
    """Upload an export to the import collection `name`, or to one with the export's name; a repeat continues."""
    first = export.first
    collection = await find_or_create(
        conversations, name or first.collection, first.domain, cancelled=first.collection_cancelled
    )
    with steps.step(f"Sending {export.file.name}", export.file.stat().st_size) as step:
        done = await conversations.upload_export(collection.id, step.read(export.file))
    return await conversations.get_collection(collection.id), done
