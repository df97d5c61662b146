"""Exports of campaigns as folders; `./stb import export` makes the campaign from such a folder, in any suite."""

import json
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError

from spotthebot.contracts.annotation.annotations import Exchanges
from spotthebot.contracts.annotation.campaign_settings import HumanShare, Pairs
from spotthebot.contracts.annotation.campaigns import ENDED, MAX_COLLECTIONS, CampaignOut
from spotthebot.contracts.annotation.exports import ExportedRows
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.terms import ConsentText, Currency, Instructions, PayAmount
from spotthebot.contracts.wire import Domain, Name, Wire
from spotthebot.importers.errors import NotAnExport
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.runtime.session import Clients
from spotthebot.local.whole_files import written

CAMPAIGN_FILE: Final = "campaign.json"
_MAX_BYTES: Final = 4 * 1024 * 1024


class ExportedCampaign(Wire):
    """The content of `campaign.json`; files next to it hold the rows of packages and annotations.

    It has how the campaign's packages were made, what its annotators were asked and offered, and how its results are
    ranked. Panel, lease, training and the checks of work are left out: an import has nobody at work. Earlier releases
    wrote no fields that have defaults here.
    """

    format: Literal[1] = 1
    name: Name
    domain: Domain
    collections: tuple[Name, ...] = Field(
        min_length=1,
        max_length=MAX_COLLECTIONS,
        description="Names of the collections; the conversations of the first are in conversations-1.jsonl.",
    )
    human_share: HumanShare | None = None
    segments: tuple[Exchanges, ...] = Field(min_length=1, max_length=10)
    pairs: Pairs = "any"
    units_twice: int | None = None
    annotations_per_segment: int
    package_size: int
    packages_per_annotator: int | None = None
    pay_per_package: PayAmount | None = None
    currency: Currency | None = None
    instructions: Instructions
    consent: ConsentText = ""
    annotators_published: bool = Field(default=False, description="Whether the annotations have annotators' names.")
    headline: str | None = None
    seed: int = Field(default=0, ge=0, lt=2**31, description="What results are computed with unless another is named.")
    protocol: AnnotationProtocol
    ended: bool = Field(description="Whether it was complete or closed: else its annotations are not all.")


def conversations_file(number: int) -> str:
    """Return the name of the file with the conversations of a campaign's collection; collections count from 1."""
    return f"conversations-{number}.jsonl"


def rows_file(rows: ExportedRows) -> str:
    """Return the name of the file with a campaign's packages or annotations."""
    return f"{rows}.jsonl"


async def export(clients: Clients, campaign: CampaignOut, folder: Path) -> list[Path]:
    """Write a campaign with its conversations, each file completely or not at all. Annotators have pseudonyms.

    `campaign.json` is written last, so a folder with it is complete. The export does not wait for quality flags,
    because an import computes them again.
    """
    (folder / CAMPAIGN_FILE).unlink(missing_ok=True)
    names, downloads = [], {}
    for number, collection_id in enumerate(campaign.collections, 1):
        names.append((await clients.conversations.get_collection(collection_id)).name)
        downloads[conversations_file(number)] = clients.conversations.export_collection(collection_id)
    for rows in (ExportedRows.PACKAGES, ExportedRows.ANNOTATIONS):
        downloads[rows_file(rows)] = clients.annotation.export_campaign(campaign.id, rows=rows)
    for name, download in downloads.items():
        with written(folder / name) as file:
            async for part in download:
                file.write(part)
    protocol = await clients.annotation.get_protocol(campaign.protocol, campaign.protocol_version)
    described = ExportedCampaign.of(
        campaign,
        format=1,
        collections=tuple(names),
        protocol=protocol.protocol,
        ended=campaign.state in ENDED,
    )
    with written(folder / CAMPAIGN_FILE) as file:
        text = json.dumps(described.model_dump(mode="json"), indent=2, ensure_ascii=False)
        file.write(f"{text}\n".encode())
    return [folder / name for name in (CAMPAIGN_FILE, *downloads)]


def read_exported_campaign(folder: Path) -> ExportedCampaign | None:
    """Return the exported campaign in a folder; None if there is none. Raises NotAnExport."""
    path = folder / CAMPAIGN_FILE
    if not path.is_file():
        return None
    with path.open("rb") as file:
        content = file.read(_MAX_BYTES)
    try:
        return ExportedCampaign.model_validate_json(content)
    except ValidationError as error:
        raise NotAnExport(path=path, reason=f"{faults_of(error)[0]}.") from error
