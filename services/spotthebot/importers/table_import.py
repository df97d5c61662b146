"""Imports tables written by other tools.

All rows are stored with the table's ids as external ids. So a second import adds nothing, and an interrupted import
continues.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal, Self

from spotthebot.clients.import_collections import add_conversations, find_or_create
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut
from spotthebot.contracts.annotation.uploads import (
    AnnotationBatchIn,
    ImportedAnnotationIn,
    PackageBatchIn,
    PackageIn,
    SegmentIn,
)
from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.conversations import (
    ConversationIn,
    ConversationState,
    Participant,
    ParticipantKind,
)
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.contracts.turns import Turn
from spotthebot.importers.dump_import import Imported, upload
from spotthebot.importers.errors import ImportNameTaken, NothingToImport
from spotthebot.local.background import wait_until_built
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.session import Clients
from spotthebot.readers.files.rows import Table
from spotthebot.readers.labels import KnownConversation, LabelledSegment, protocol_of, read_labels
from spotthebot.readers.meanings.columns import ColumnMapping, Kind
from spotthebot.readers.meanings.values import ValueWords
from spotthebot.readers.rejected import Rejected
from spotthebot.readers.rejections import Tally

_SPEAKERS: tuple[Literal["A"], Literal["B"]] = ("A", "B")
_MAX_SEGMENTS: Final = 10
"""The number of lengths that a campaign may name; imported items may have other lengths."""


async def import_conversations(
    clients: Clients, conversations: Iterator[ConversationIn | Rejected], name: str, domain: str, steps: Steps
) -> tuple[CollectionOut, Imported]:
    """Upload conversations to the import collection of this name; conversations with known ids stay unchanged."""
    collection = await find_or_create(clients.conversations, name, domain)
    imported = Imported(campaign="")
    add = partial(add_conversations, clients.conversations, collection.id)
    await upload("conversations", conversations, add, imported, steps)
    return await clients.conversations.get_collection(collection.id), imported


async def import_logs(
    clients: Clients, conversations: Iterator[ExportedConversation | Rejected], name: str, domain: str, steps: Steps
) -> tuple[CollectionOut, Imported, int]:
    """Upload chats of people with bots to the import collection of this name; chats with known ids stay unchanged.

    The last value counts the ratings of the chats that were read.
    """
    collection = await find_or_create(clients.conversations, name, domain)
    imported = Imported(campaign="", read={"conversations": 0})
    sent: list[ExportedConversation] = []

    def lines() -> Iterator[bytes]:
        for each in conversations:
            imported.read["conversations"] += 1
            if isinstance(each, Rejected):
                imported.rejected.append(each)
            else:
                sent.append(each)
                yield f"{each.model_dump_json()}\n".encode()

    with steps.step("Importing conversations"):
        done = await clients.conversations.upload_export(collection.id, lines())
    imported.stored["conversations"] = done.stored
    imported.already_there["conversations"] = done.already_there
    imported.rejected += [
        Rejected(f"conversation '{sent[each.line - 1].id}'", each.line, each.reason) for each in done.rejected.first
    ]
    ratings = sum(each.rating is not None for each in sent)
    return await clients.conversations.get_collection(collection.id), imported, ratings


@dataclass
class LabelSurvey:
    """A survey of a table of labels: its conversations with sides and lengths, and its rejected rows."""

    read: int = 0
    tally: Tally = field(default_factory=Tally)
    sides: dict[str, tuple[str, str]] = field(default_factory=dict)
    lengths: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, segments: Iterable[LabelledSegment | Rejected], *, rows: int = 1) -> Self:
        """Read all labels of a table once; each annotation takes `rows` rows."""
        survey = cls()
        for each in segments:
            survey.read += 1
            if isinstance(each, Rejected):
                survey.tally.reject(each)
            else:
                survey.tally.keep(each.sides, rows=rows)
                survey.sides.setdefault(each.conversation, each.sides)
                lengths = survey.lengths.setdefault(each.conversation, [])
                if each.exchanges not in lengths:
                    lengths.append(each.exchanges)
        return survey


@dataclass(frozen=True)
class LabelImport:
    """A table of labels to import under a name. `said` states file, mapping and values, which identify the import.

    Without a `collection`, the import makes a collection of conversations without texts. With `allow_rejected`, it
    imports the readable labels even if most rows are rejected.
    """

    table: Table
    mapping: ColumnMapping
    words: ValueWords
    name: str
    domain: str
    said: str
    collection: CollectionOut | None
    known: Mapping[str, KnownConversation] | None
    allow_rejected: bool = False

    def segments(self) -> Iterator[LabelledSegment | Rejected]:
        """Read the labels again, with the same result each time."""
        return read_labels(self.table, self.mapping, self.words, self.known)


async def known_conversations(clients: Clients, collection: CollectionOut) -> dict[str, KnownConversation]:
    """Return the complete conversations of a collection by their ids in exports."""
    lengths = {
        each.id: (each.external_id or str(each.id), len(each.turns) // 2)
        async for each in clients.conversations.stream_texts(collection.id)
        if each.state is ConversationState.COMPLETE
    }
    found = {}
    async for spoke in clients.conversations.stream_speakers(collection.id):
        if spoke.id in lengths:
            name, exchanges = lengths[spoke.id]
            first, second = spoke.participants
            found[name] = KnownConversation((first.name, second.name), exchanges)
    return found


async def import_labels(clients: Clients, source: LabelImport, steps: Steps) -> Imported:
    """Upload a campaign with the labels of a table; each conversation and length is a separate package.

    Raises NothingToImport for a table without labels, MostRowsRejected and BotLosesRows if most rows are rejected, and
    ImportNameTaken if the name belongs to other data.
    """
    with steps.step(f"Reading {source.table.path.name}"):
        survey = LabelSurvey.of(source.segments(), rows=2 if source.mapping.kind is Kind.SIDES else 1)
    rejected = survey.tally.rejected
    if not survey.sides:
        raise NothingToImport(file=source.table.path.name, reason=rejected[0].reason if rejected else "it is empty")
    if not source.allow_rejected:
        survey.tally.require_most(ranked=False)
    imported = Imported(campaign=source.name, rejected=rejected)
    collection = source.collection
    if collection is None:
        await _find_campaign(clients, source)  # before anything is stored under its name
        conversations = _conversations_without_texts(survey)
        collection, stored = await import_conversations(clients, conversations, source.name, source.domain, steps)
        imported.read |= stored.read
        imported.stored |= stored.stored
        imported.already_there |= stored.already_there
    campaign = await _find_or_create_campaign(clients, source, survey, collection)
    imported.campaign_id = str(campaign.id)
    await wait_until_built(clients.annotation, campaign)

    async def add_packages(batch: Sequence[PackageIn]) -> StoredOut:
        return await clients.annotation.import_packages(
            campaign.id, PackageBatchIn.model_construct(packages=tuple(batch))
        )

    async def add_annotations(batch: Sequence[ImportedAnnotationIn]) -> StoredOut:
        uploaded = AnnotationBatchIn.model_construct(annotations=tuple(batch))
        return await clients.annotation.import_annotations(campaign.id, uploaded)

    await upload("packages", _packages(survey), add_packages, imported, steps)
    await upload("annotations", _annotations(source.segments()), add_annotations, imported, steps)
    imported.read["annotations"] = survey.read
    await clients.annotation.close_campaign(campaign.id)
    return imported


def _conversations_without_texts(survey: LabelSurvey) -> Iterator[ConversationIn]:
    for name, sides in survey.sides.items():
        turns = tuple(Turn(speaker=speaker, text="") for _ in range(max(survey.lengths[name])) for speaker in _SPEAKERS)
        first, second = (
            Participant(kind=ParticipantKind.HUMAN if side == HUMAN_NAME else ParticipantKind.BOT, name=side)
            for side in sides
        )
        yield ConversationIn(external_id=name, participants=(first, second), turns=turns)


def _packages(survey: LabelSurvey) -> Iterator[PackageIn]:
    for name, lengths in survey.lengths.items():
        for exchanges in sorted(lengths):
            segment = SegmentIn(conversation=name, exchanges=exchanges)
            yield PackageIn(external_id=_package_of(name, exchanges), segments=(segment,))


def _package_of(conversation: str, exchanges: int) -> str:
    return f"{conversation} ({exchanges})"


def _annotations(segments: Iterable[LabelledSegment | Rejected]) -> Iterator[ImportedAnnotationIn]:
    for each in segments:
        if isinstance(each, Rejected):
            continue
        package = _package_of(each.conversation, each.exchanges)
        key = hashlib.sha256(f"{package}\0{each.annotator}".encode()).hexdigest()
        yield ImportedAnnotationIn(
            external_id=key,
            package=package,
            conversation=each.conversation,
            exchanges=each.exchanges,
            annotator=each.annotator,
            annotator_kind=each.annotator_kind,
            answer=each.answer,
            started_at=None,
            ended_at=None,
            elapsed_ms=None,
        )


async def _find_campaign(clients: Clients, source: LabelImport) -> CampaignOut | None:
    """Return the campaign of an earlier run of this import; raises ImportNameTaken if its name has other data."""
    found = [each async for each in clients.annotation.list_campaigns(name=source.name)]
    for each in found:
        if each.mode == "import" and each.instructions == source.said:
            return each
    if found:
        raise ImportNameTaken(name=source.name)
    return None


async def _find_or_create_campaign(
    clients: Clients, source: LabelImport, survey: LabelSurvey, collection: CollectionOut
) -> CampaignOut:
    if (found := await _find_campaign(clients, source)) is not None:
        return found
    request = CampaignIn(
        mode="import",
        name=source.name,
        domain=source.domain,
        collections=(collection.id,),
        segments=tuple(sorted({length for lengths in survey.lengths.values() for length in lengths}))[:_MAX_SEGMENTS],
        instructions=source.said,
        protocol=protocol_of(source.mapping),
    )
    key = hashlib.sha256(f"{source.name}\0{source.said}".encode()).hexdigest()
    return await clients.annotation.create_campaign(request, idempotency_key=f"import/{key}")
