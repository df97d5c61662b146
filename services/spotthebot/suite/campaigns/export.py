"""Exports of campaigns as the files of a folder."""

from pathlib import Path
from uuid import UUID

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.annotation_exports import ExportedRows
from spotthebot.suite.whole_files import written

_ROWS = (ExportedRows.PACKAGES, ExportedRows.ANNOTATIONS)


async def export(annotation: AsyncAnnotation, campaign_id: UUID, folder: Path) -> list[Path]:
    """Write `packages.jsonl` and `annotations.jsonl`, each whole or not at all; annotators have pseudonyms."""
    files = []
    for rows in _ROWS:
        files.append(folder / f"{rows}.jsonl")
        with written(files[-1]) as file:
            async for part in annotation.export_campaign(campaign_id, rows=rows):
                file.write(part)
    return files
