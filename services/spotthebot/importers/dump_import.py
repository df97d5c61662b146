"""Imports the published Spot The Bot data through the services' API, in batches, and reports all rejected rows.

All rows are stored with the dump's ids as external ids. So a second import adds nothing, and an interrupted import
continues.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar
from uuid import UUID

from spotthebot.clients.import_collections import in_batches
from spotthebot.contracts.annotation.annotations import Answer, Preference
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.annotation.uploads import (
    AnnotationBatchIn,
    ImportedAnnotationIn,
    PackageBatchIn,
    PackageIn,
    SegmentIn,
)
from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.conversations.collections import CollectionOut, ImportIn
from spotthebot.contracts.conversations.conversations import (
    ConversationBatchIn,
    ConversationIn,
    Participant,
    ParticipantKind,
)
from spotthebot.contracts.turns import Turn
from spotthebot.importers.published_dump.dump import Dump
from spotthebot.importers.published_dump.records import DumpAnnotation, DumpConversation, DumpPackage, Side
from spotthebot.local.background import poll_until
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.session import Clients
from spotthebot.readers.rejected import Rejected

_SEGMENTS = {"dailydialog": (2, 3, 5), "empathetic": (1, 2, 3), "convai2": (2, 3, 5)}
_SPEAKERS: tuple[Literal["A"], Literal["B"]] = ("A", "B")
_PREFERENCES = (Preference.A, Preference.B)

Record = TypeVar("Record")


@dataclass
class Imported:
    """The result of an import: the numbers of rows read, stored now and stored before, and the rejected rows."""

    campaign: str
    campaign_id: str = ""
    read: dict[str, int] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    already_there: dict[str, int] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)

    @property
    def summary(self) -> dict[str, Any]:
        """The values that `--json` writes for a campaign: the numbers of rows that are now in the suite."""
        return {"campaign": self.campaign, "campaign_id": self.campaign_id, **self.counts}

    @property
    def counts(self) -> dict[str, Any]:
        """The numbers of rows that are now in the suite: stored by this import, and stored before."""
        present = {kind: self.stored[kind] + self.already_there[kind] for kind in self.stored}
        detail = {"read": self.read, "stored": self.stored, "already_there": self.already_there}
        return {**present, **detail, "rejected": [each.summary for each in self.rejected]}


async def import_dump(clients: Clients, dump: Dump, steps: Steps) -> Imported:
    """Upload conversations, packages and annotations, then close the campaign.

    Records are not validated here. The services validate them, and their answers name the faults.
    """
    name = f"spot-the-bot-{dump.domain}"
    imported = Imported(campaign=name)
    collection = await _find_or_create_collection(clients, name, dump.domain)

    async def add_conversations(records: Sequence[DumpConversation]) -> StoredOut:
        batch = ConversationBatchIn.model_construct(conversations=tuple(map(_conversation, records)))
        return await clients.conversations.import_conversations(collection.id, batch)

    async def add_packages(records: Sequence[DumpPackage]) -> StoredOut:
        batch = PackageBatchIn.model_construct(packages=tuple(map(_package, records)))
        return await clients.annotation.import_packages(campaign.id, batch)

    async def add_annotations(records: Sequence[DumpAnnotation]) -> StoredOut:
        batch = AnnotationBatchIn.model_construct(annotations=tuple(map(_annotation, records)))
        return await clients.annotation.import_annotations(campaign.id, batch)

    await upload("conversations", dump.conversations(), add_conversations, imported, steps)
    campaign = await _find_or_create_campaign(clients, name, dump.domain, collection.id)
    imported.campaign_id = str(campaign.id)
    await poll_until(
        lambda: clients.annotation.get_campaign(campaign.id),
        lambda found: found.state is not CampaignState.BUILDING,
        "Building the campaign",
    )
    await upload("packages", dump.packages(), add_packages, imported, steps)
    await upload("annotations", dump.annotations(), add_annotations, imported, steps)
    await clients.annotation.close_campaign(campaign.id)
    return imported


async def _find_or_create_collection(clients: Clients, name: str, domain: str) -> CollectionOut:
    async for found in clients.conversations.list_collections(name=name):
        if found.mode == "import":
            return found
    request = ImportIn(mode="import", name=name, domain=domain)
    return await clients.conversations.create_collection(request, idempotency_key=f"import/{name}")


async def _find_or_create_campaign(clients: Clients, name: str, domain: str, collection_id: UUID) -> CampaignOut:
    async for found in clients.annotation.list_campaigns(name=name):
        if found.mode == "import":
            return found
    request = CampaignIn(
        mode="import",
        name=name,
        domain=domain,
        collections=(collection_id,),
        segments=_SEGMENTS[domain],
        annotators_published=True,
    )
    return await clients.annotation.create_campaign(request, idempotency_key=f"import/{name}")


async def upload(
    kind: str,
    records: Iterator[Record | Rejected],
    add: Callable[[Sequence[Record]], Awaitable[StoredOut]],
    imported: Imported,
    steps: Steps,
) -> None:
    """Add records in batches and count them; unreadable rows count as read, and are kept with the reason."""
    imported.read[kind] = imported.stored[kind] = imported.already_there[kind] = 0

    def readable() -> Iterator[Record]:
        for record in records:
            imported.read[kind] += 1
            if isinstance(record, Rejected):
                imported.rejected.append(record)
            else:
                yield record

    with steps.step(f"Importing {kind}") as step:
        async for answer in in_batches(readable(), add):
            imported.stored[kind] += answer.stored
            imported.already_there[kind] += answer.already_there
            step.at(imported.read[kind])


def _conversation(record: DumpConversation) -> ConversationIn:
    first, second = (
        Participant.model_construct(kind=ParticipantKind(side.kind), name=side.name, system=side.system)
        for side in record.participants
    )
    turns = tuple(Turn.model_construct(speaker=_SPEAKERS[turn.speaker], text=turn.text) for turn in record.turns)
    return ConversationIn.model_construct(external_id=record.external_id, participants=(first, second), turns=turns)


def _package(record: DumpPackage) -> PackageIn:
    segments = tuple(
        SegmentIn.model_construct(conversation=segment.conversation, exchanges=segment.turns_shown // 2)
        for segment in record.segments
    )
    return PackageIn.model_construct(external_id=record.external_id, segments=segments)


def _annotation(record: DumpAnnotation) -> ImportedAnnotationIn:
    return ImportedAnnotationIn.model_construct(
        external_id=record.external_id,
        package=record.package,
        conversation=record.conversation,
        exchanges=record.turns_shown // 2,
        annotator=record.annotator,
        answer=answer_of(record),
        started_at=_time(record.started_at_ms),
        ended_at=_time(record.ended_at_ms),
        elapsed_ms=record.elapsed_ms,
        completion_code=record.completion_code,
    )


def answer_of(record: DumpAnnotation) -> Answer:
    """Convert an annotation to an answer by the protocol `spot_the_bot`."""
    first, second = record.labels
    answer: Answer = {"entity": {"A": first.value, "B": second.value}}
    for feature, side in record.preferences.items():
        answer[feature] = _preference(side).value
    return answer


def _preference(side: Side | None) -> Preference:
    return Preference.TIE if side is None else _PREFERENCES[side]


def _time(milliseconds: int | None) -> datetime | None:
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds)
