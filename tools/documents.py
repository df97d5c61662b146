"""`stb docs`: renew the committed documents that are made from the code; build the site from all documents."""

from pathlib import Path
from typing import Annotated, Final

from typer import Option

from spotthebot.cli.application import main
from spotthebot.cli.campaigns.declaration_file import Declaration as CampaignDeclaration
from spotthebot.cli.collections.declaration_file import CollectionFile
from spotthebot.cli.declarations.declared import schema_text
from spotthebot.cli.studies.declaration_file import StudyDeclaration
from spotthebot.contracts.annotation.protocols import protocol_schema_text
from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.kit.service.process import openapi_text
from spotthebot.local.progress import screen
from spotthebot.local.runtime.services import load_service
from tools import ROOT
from tools.diagrams import drawn
from tools.llms import FOLDER, llms_full_text, llms_text
from tools.site import SITE, build_site

BOT_ON_PAGE: Final = Path("services", "spotthebot", "web", "bots", "templates", "examples", "webhook_bot.py.txt")
"""The example of a bot, as the page `/bots/how-to` shows it: the wheel has no folder `docs`."""


def docs(
    *,
    site: Annotated[
        bool,
        Option(
            "--site",
            help="Also build the documentation site, which `web` serves at /docs. The first time it downloads about"
            " 20 MB.",
        ),
    ] = False,
) -> None:
    """Renew what a clone's documents take from the code.

    These are `openapi/`, schemas and diagrams, and, made from all of them, `llms.txt` and `llms-full.txt`. The page
    `/bots/how-to` gets its program.
    """
    folder, develop = ROOT / "openapi", ROOT / "docs" / "develop.md"
    for name in SERVICE_NAMES:
        _renew(folder / f"{name}.json", openapi_text(load_service(name)) + "\n")
    _renew(ROOT / "docs" / "protocol.schema.json", protocol_schema_text() + "\n")
    _renew(ROOT / "docs" / "collection.schema.json", schema_text(CollectionFile) + "\n")
    _renew(ROOT / "docs" / "campaign.schema.json", schema_text(CampaignDeclaration) + "\n")
    _renew(ROOT / "docs" / "study.schema.json", schema_text(StudyDeclaration) + "\n")
    _renew(develop, drawn(develop.read_text()))
    _renew(ROOT / FOLDER / "llms.txt", llms_text(ROOT))
    _renew(ROOT / FOLDER / "llms-full.txt", llms_full_text(ROOT))
    _renew(ROOT / BOT_ON_PAGE, (ROOT / "docs" / "examples" / "webhook_bot.py").read_text())
    if site:
        build_site()
        screen.print(f"{SITE.relative_to(ROOT)}: built", highlight=False)


def _renew(document: Path, text: str) -> None:
    changed = not document.exists() or document.read_text() != text
    if changed:
        document.parent.mkdir(parents=True, exist_ok=True)
        document.write_text(text)
    screen.print(f"{document.relative_to(ROOT)}: {'renewed' if changed else 'unchanged'}", highlight=False)


if __name__ == "__main__":
    main("docs")
