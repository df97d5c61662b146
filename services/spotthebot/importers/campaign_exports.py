"""Exports of campaigns as folders, and the import of such a folder: collections, packages and annotations.

All rows are stored with the ids of the export as external ids. So a second import adds nothing, and an interrupted
import continues.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, Literal, TypeVar
from uuid import UUID

from pydantic import Field, ValidationError

from spotthebot.contracts.annotation.annotations import Exchanges
from spotthebot.contracts.annotation.campaign_settings import HumanShare, Pairs
from spotthebot.contracts.annotation.campaigns import ENDED, MAX_COLLECTIONS, CampaignIn, CampaignOut
from spotthebot.contracts.annotation.exports import ExportedAnnotation, ExportedItem, ExportedRows
from spotthebot.contracts.annotation.protocols import AnnotationProtocol, ProtocolIn
from spotthebot.contracts.annotation.uploads import (
    AnnotationBatchIn,
    ImportedAnnotationIn,
    PackageBatchIn,
    PackageIn,
    SegmentIn,
    ShownIn,
)
from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.terms import ConsentText, Currency, Instructions, PayAmount
from spotthebot.contracts.wire import Domain, Name, Wire
from spotthebot.importers.conversation_exports import import_export, open_export
from spotthebot.importers.dump_import import Imported
from spotthebot.importers.errors import NotAnExport
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.background import wait_until_built
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.session import Clients
from spotthebot.local.whole_files import written
from spotthebot.readers.rejected import Rejected

CAMPAIGN_FILE: Final = "campaign.json"
_MAX_BYTES: Final = 4 * 1024 * 1024
_AT_ONCE = 250
_NONE = UUID(int=0)
"""Stands for the campaign's collections until these are imported."""
_MAX_PART = 45
"""The maximum of letters of a partial name: two parts, a number and brackets make a name."""
Row = TypeVar("Row", bound=Wire)
Uploaded = TypeVar("Uploaded", bound=Wire)


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


async def import_campaign(
    clients: Clients, folder: Path, exported: ExportedCampaign, name: str | None, steps: Steps
) -> Imported:
    """Import a campaign and its collections under the campaign's name, or under `name` if given.

    Raises NotAnExport for a file that is missing or is not an export. Annotators keep the pseudonyms of the export.
    """
    packages = list(_packages(_read(folder / rows_file(ExportedRows.PACKAGES), ExportedItem)))
    annotations = [_annotation(row) for row in _read(folder / rows_file(ExportedRows.ANNOTATIONS), ExportedAnnotation)]
    imported = Imported(campaign=name or exported.name)
    request = _request(exported, folder, imported.campaign)
    collections = await _import_collections(clients, folder, exported, imported, steps)
    await clients.annotation.create_protocol(ProtocolIn(protocol=exported.protocol))
    campaign = await wait_until_built(clients.annotation, await _find_or_create(clients, request, collections))
    imported.campaign_id = str(campaign.id)

    async def add_packages(batch: tuple[PackageIn, ...]) -> StoredOut:
        return await clients.annotation.import_packages(campaign.id, PackageBatchIn(packages=batch))

    async def add_annotations(batch: tuple[ImportedAnnotationIn, ...]) -> StoredOut:
        return await clients.annotation.import_annotations(campaign.id, AnnotationBatchIn(annotations=batch))

    await _upload("packages", packages, add_packages, imported, steps)
    await _upload("annotations", annotations, add_annotations, imported, steps)
    if exported.ended:
        await clients.annotation.close_campaign(campaign.id)
    return imported


async def _import_collections(
    clients: Clients, folder: Path, exported: ExportedCampaign, imported: Imported, steps: Steps
) -> tuple[UUID, ...]:
    """Import conversations, each file into a separate collection."""
    exports = [open_export(folder / conversations_file(number)) for number in range(1, len(exported.collections) + 1)]
    counts = imported.read, imported.stored, imported.already_there
    for count in counts:
        count["conversations"] = 0
    collections = []
    for export, name in zip(exports, _names(exported.collections, imported.campaign), strict=True):
        collection, done = await import_export(clients.conversations, export, name, steps)
        collections.append(collection.id)
        for count, more in zip(counts, (done.read, done.stored, done.already_there), strict=True):
            count["conversations"] += more
        imported.rejected += [Rejected(export.file.name, each.line, each.reason) for each in done.rejected.first]
    return tuple(collections)


def _names(collections: Sequence[str], campaign: str) -> Iterator[str]:
    """Yield a unique name for each collection of a campaign, made from the names of collection and campaign."""
    for number, name in enumerate(collections):
        before = collections[:number].count(name)
        yield f"{name[:_MAX_PART]}{f' {before + 1}' if before else ''} ({campaign[:_MAX_PART]})"


async def _find_or_create(clients: Clients, request: CampaignIn, collections: tuple[UUID, ...]) -> CampaignOut:
    name = request.name
    async for found in clients.annotation.list_campaigns(name=name):
        if found.mode == "import" and found.collections == collections:
            return found
    request = request.model_copy(update={"collections": collections})
    key = hashlib.sha256(f"{collections[0]}/{name}".encode()).hexdigest()
    return await clients.annotation.create_campaign(request, idempotency_key=f"import/{key}")


def _request(exported: ExportedCampaign, folder: Path, name: str) -> CampaignIn:
    """Return the request for the campaign, over no collection so far; raises NotAnExport if its settings contradict."""
    own = ExportedCampaign.model_fields.keys() & CampaignIn.model_fields.keys()
    settings = {field: getattr(exported, field) for field in own}
    protocol = {"protocol": exported.protocol.name, "protocol_version": exported.protocol.version}
    try:
        return CampaignIn.model_validate(settings | protocol | {"mode": "import", "name": name, "collections": [_NONE]})
    except ValidationError as error:
        raise NotAnExport(path=folder / CAMPAIGN_FILE, reason=f"{faults_of(error)[0]}.") from error


async def _upload(
    kind: str,
    rows: Sequence[Uploaded],
    add: Callable[[tuple[Uploaded, ...]], Awaitable[StoredOut]],
    imported: Imported,
    steps: Steps,
) -> None:
    imported.read[kind], imported.stored[kind], imported.already_there[kind] = len(rows), 0, 0
    with steps.step(f"Importing {kind}", total=len(rows)) as step:
        for start in range(0, len(rows), _AT_ONCE):
            answer = await add(tuple(rows[start : start + _AT_ONCE]))
            imported.stored[kind] += answer.stored
            imported.already_there[kind] += answer.already_there
            step.at(start + _AT_ONCE)


def _read(path: Path, kind: type[Row]) -> Iterator[Row]:
    """Yield the rows of a file; raises NotAnExport with the first invalid line."""
    if not path.is_file():
        raise NotAnExport(path=path.parent, reason=f"there is no {path.name} in it.")
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield kind.model_validate_json(line)
            except ValidationError as error:
                raise NotAnExport(path=path, reason=f"line {number}: {faults_of(error)[0]}.") from error


def _packages(items: Iterator[ExportedItem]) -> Iterator[PackageIn]:
    """Join items to packages; the items of a package are consecutive rows, in the order of their positions."""
    for package, found in groupby(items, key=lambda item: item.package):
        yield PackageIn(external_id=package, segments=tuple(map(_segment, found)))


def _segment(item: ExportedItem) -> SegmentIn:
    right = None
    if item.right_conversation is not None and item.right_exchanges is not None:
        right = ShownIn(conversation=item.right_conversation, exchanges=item.right_exchanges)
    return SegmentIn(conversation=item.conversation, exchanges=item.exchanges, right=right)


def _annotation(row: ExportedAnnotation) -> ImportedAnnotationIn:
    return ImportedAnnotationIn.of(row, external_id=row.id, completion_code=None)
