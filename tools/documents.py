"""`stb docs`: renew the committed documents that are made from the code."""

from pathlib import Path

from spotthebot.cli import campaigns, collections, main
from spotthebot.cli.declarations import schema_text
from spotthebot.contracts.annotation.protocols import protocol_schema_text
from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.kit.service.process import openapi_text
from spotthebot.local.progress import screen
from spotthebot.local.runtime.services import load_service
from tools import ROOT
from tools.diagrams import drawn


def docs() -> None:
    """Renew what a clone's documents take from the code: `openapi/`, schemas and diagrams."""
    folder, develop = ROOT / "openapi", ROOT / "docs" / "develop.md"
    for name in SERVICE_NAMES:
        _renew(folder / f"{name}.json", openapi_text(load_service(name)) + "\n")
    _renew(ROOT / "docs" / "protocol.schema.json", protocol_schema_text() + "\n")
    _renew(ROOT / "docs" / "collection.schema.json", schema_text(collections.Declaration) + "\n")
    _renew(ROOT / "docs" / "campaign.schema.json", schema_text(campaigns.Declaration) + "\n")
    _renew(develop, drawn(develop.read_text()))


def _renew(document: Path, text: str) -> None:
    changed = not document.exists() or document.read_text() != text
    if changed:
        document.write_text(text)
    screen.print(f"{document.relative_to(ROOT)}: {'renewed' if changed else 'unchanged'}", highlight=False)


if __name__ == "__main__":
    main("docs")
