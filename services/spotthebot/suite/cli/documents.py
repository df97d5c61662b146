"""`stb openapi`: renew the committed OpenAPI documents."""

from pathlib import Path

from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.kit.process import openapi_text
from spotthebot.suite.cli.tests import ROOT, NotAClone
from spotthebot.suite.progress import screen
from spotthebot.suite.runtime.services import load_service


def openapi() -> None:
    """Renew the OpenAPI document of every service, in `openapi/` of a clone."""
    folder = ROOT / "openapi"
    if not folder.is_dir():
        raise NotAClone
    for name in SERVICE_NAMES:
        changed = _renew(folder / f"{name}.json", openapi_text(load_service(name)) + "\n")
        screen.print(f"{name}: {'renewed' if changed else 'unchanged'}", highlight=False)


def _renew(document: Path, text: str) -> bool:
    if document.exists() and document.read_text() == text:
        return False
    document.write_text(text)
    return True
