"""The data of campaigns: annotations and speakers, read from `annotation` and `conversations`.

Annotators are named by pseudonyms, so no result contains an id of a panel.

The data of a campaign are kept in memory, so that nine sections read them once. They are dropped when the campaign's
annotations change, or when nobody has used them for some minutes. Only the latest requested revision of each campaign
is kept: otherwise a growing campaign would fill the memory with its revisions.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final
from uuid import UUID

from spotthebot.analytics.clients.answers import Known, coded_annotation, is_whole, played_sides
from spotthebot.analytics.clients.errors import NoSuchCampaign
from spotthebot.analytics.clients.labelled import SPOT_THE_BOT, labelled_of, require_protocol
from spotthebot.analytics.clients.read_collections import ReadCollections
from spotthebot.analytics.games.domain import PlayedSide
from spotthebot.analytics.judges.domain.labels import CampaignJudge, campaign_judges
from spotthebot.analytics.labels.domain import IMPORT, LabelledCampaign
from spotthebot.analytics.measures.domain.workforces import Workforce
from spotthebot.analytics.values.domain.values import MeasuredCampaign, item_of
from spotthebot.clients import Annotation, AsyncAnnotation, AsyncConversations, Conversations, NotFound
from spotthebot.contracts.annotation.campaigns import ENDED, CampaignOut
from spotthebot.contracts.annotation.judges import ALL_JUDGES
from spotthebot.contracts.annotation.measures import MeasuredQuestion, measured_questions
from spotthebot.contracts.annotation.packages import SegmentRef
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.conversations import ConversationState, ParticipantKind, SpeakersOut
from spotthebot.contracts.repeated_texts import shown_texts

_WORKFORCES_AT_ONCE: Final = 1000
_MAX_CAMPAIGNS: Final = 8
_MAX_ANNOTATIONS: Final = 500_000
_UNUSED_SECONDS: Final = 300.0
"""Data that were not used for this time are dropped, at most a fifth later."""


@dataclass(frozen=True)
class CampaignRevision:
    """A campaign in its current state. `revision` is a fingerprint of everything that its results depend on.

    The labels of `judges` count as annotators' labels; other judges are left out.
    """

    campaign: CampaignOut
    revision: str
    judges: tuple[str, ...] = ()


@dataclass
class _Read:
    """The data of a revision, which are read or are being read. `used_at` is a time of the event loop's clock."""

    revision: str
    labelled: asyncio.Task[LabelledCampaign]
    used_at: float = 0.0

    @property
    def has_failed(self) -> bool:
        return self.labelled.done() and (self.labelled.cancelled() or self.labelled.exception() is not None)


class CampaignData:
    """Reads and keeps the data of campaigns."""

    def __init__(
        self, annotation: AsyncAnnotation, conversations: AsyncConversations, *, unused_seconds: float = _UNUSED_SECONDS
    ) -> None:
        self._annotation = annotation
        self._conversations = conversations
        self._unused_seconds = unused_seconds
        self._read: OrderedDict[UUID, _Read] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None

    async def share_people(self, campaigns: Sequence[UUID]) -> bool:
        """Return whether a person annotated in two of the campaigns: their pseudonyms differ and do not tell."""
        for at, each in enumerate(campaigns[:-1]):
            if (await self._annotation.count_shared_annotators(each, campaigns[at + 1 :])).people:
                return True
        return False

    async def get_campaign(self, campaign_id: UUID, *, protocol: str | None = SPOT_THE_BOT) -> CampaignOut:
        """Return the current campaign; raises NoSuchCampaign, and OtherProtocol if its protocol is not `protocol`.

        If `protocol` is None, any protocol is accepted.
        """
        try:
            campaign = await self._annotation.get_campaign(campaign_id)
        except NotFound as refused:
            raise NoSuchCampaign(campaign_id=campaign_id) from refused
        if protocol is not None:
            require_protocol(campaign, protocol)
        return campaign

    async def current_revision(
        self, campaign_id: UUID, *, protocol: str | None = SPOT_THE_BOT, judges: Sequence[str] = ()
    ) -> CampaignRevision:
        """Return the current campaign with its revision.

        Raises NoSuchCampaign, and OtherProtocol if its protocol is not `protocol`; None accepts any protocol.
        """
        return await self.revision_of(await self.get_campaign(campaign_id, protocol=protocol), judges=judges)

    async def revision_of(
        self,
        campaign: CampaignOut,
        collections: Mapping[UUID, CollectionOut] | None = None,
        *,
        judges: Sequence[str] = (),
    ) -> CampaignRevision:
        """Return a current campaign with its revision.

        It takes one request for annotations, and one for each collection that is not in `collections`.
        """
        known = collections or {}
        annotations, *others = await asyncio.gather(
            self._annotation.annotations_revision(campaign.id, judges=judges),
            *(self._conversations.get_collection(each) for each in campaign.collections if each not in known),
        )
        complete = sum(each.complete for each in (*others, *(known[at] for at in campaign.collections if at in known)))
        own = campaign.name, campaign.seed, campaign.packages, campaign.state, campaign.headline
        depends_on = (*own, complete, annotations.revision)
        revision = blake2b(json.dumps(depends_on).encode(), digest_size=16).hexdigest()
        return CampaignRevision(campaign, revision, tuple(judges))

    async def read(self, revision: CampaignRevision) -> LabelledCampaign:
        """Return the labels of a campaign's revision. They are read now, or kept from an earlier call."""
        campaign = revision.campaign
        read = self._read.get(campaign.id)
        if read is None or read.revision != revision.revision:
            read = self._read[campaign.id] = _Read(revision.revision, asyncio.create_task(self._fetch(revision)))
            # All callers may have left when it fails.
            read.labelled.add_done_callback(lambda _: self._forget_failed(campaign.id))
        self._read.move_to_end(campaign.id)
        labelled = await asyncio.shield(read.labelled)
        read.used_at = asyncio.get_running_loop().time()
        self._forget_beyond_limits()
        self._forget_unused_later()
        return labelled

    async def read_game(self, revision: CampaignRevision) -> list[PlayedSide]:
        """Read the annotators' decisions in a game, and the speakers."""
        campaign = revision.campaign
        spoke_in = {
            spoke.id: tuple((each.name, each.kind is ParticipantKind.HUMAN) for each in spoke.participants)
            async for spoke in self._spoken(campaign)
        }
        return [
            side
            async for annotation in self._annotation.stream_annotations(campaign.id, judges=revision.judges)
            for side in played_sides(annotation, spoke_in[annotation.conversation_id])
        ]

    async def judges_revision(self, campaign_id: UUID) -> str:
        """Return a revision of all annotations of a campaign, those of judges included."""
        return (await self._annotation.annotations_revision(campaign_id, judges=[ALL_JUDGES])).revision

    async def read_judges(self, campaign_id: UUID) -> list[CampaignJudge]:
        """Read what judges said of a campaign."""
        streamed = self._annotation.stream_annotations(campaign_id, judges=[ALL_JUDGES])
        annotations = [each async for each in streamed if each.judge is not None]
        named = {each.judge.name for each in annotations if each.judge is not None and each.judge.version is not None}
        versions = {
            (version.name, version.version): version
            for name in sorted(named)
            async for version in self._annotation.list_judges(name=name)
        }
        return campaign_judges(annotations, versions, campaign_id)

    async def read_questions(self, campaign: CampaignOut) -> dict[str, MeasuredQuestion]:
        """Return the measures of a campaign's protocol by their names."""
        found = await self._annotation.get_protocol(campaign.protocol, campaign.protocol_version)
        return measured_questions(found.protocol)

    async def read_workforces(self, campaign_id: UUID) -> dict[str, Workforce]:
        """Return the workforce of each annotator of a campaign, by pseudonym."""
        listed = self._annotation.list_workforces(campaign_id, page_size=_WORKFORCES_AT_ONCE)
        return {each.annotator: Workforce(each.frontend, each.link) async for each in listed}

    async def read_measured(
        self, revision: CampaignRevision, collections: ReadCollections | None = None
    ) -> MeasuredCampaign:
        """Read everything that a campaign's measures need.

        Texts of conversations are read only if a measure is about turns. `collections` keeps the collections that were
        read for another campaign.
        """
        campaign, collections = revision.campaign, collections or ReadCollections(self._conversations)
        questions = await self.read_questions(campaign)
        packages = [package async for package in self._annotation.list_packages(campaign.id)]
        of_turns = any(each.per == "turn" for each in questions.values())
        return MeasuredCampaign(
            campaign_id=campaign.id,
            campaign=campaign.name,
            domain=campaign.domain,
            complete=campaign.state in ENDED,
            questions=questions,
            declared_headline=campaign.headline,
            annotations=[
                each async for each in self._annotation.stream_annotations(campaign.id, judges=revision.judges)
            ],
            packages={each.id: frozenset(map(_item, each.segments)) for each in packages},
            speakers=await collections.speakers(campaign.collections),
            texts=shown_texts(packages),
            turns=await collections.turns(campaign.collections) if of_turns else {},
            is_import=campaign.mode == IMPORT,
        )

    async def read_collection_names(self, campaign: CampaignOut, collections: ReadCollections) -> dict[Hashable, str]:
        """Return the name of the collection of each conversation of a campaign."""
        return {
            conversation: name
            for each in campaign.collections
            for name in ((await self._conversations.get_collection(each)).name,)
            for conversation in await collections.speakers([each])
        }

    async def read_bots_by_name(self, revision: CampaignRevision) -> dict[str, frozenset[UUID | None]]:
        """Return for each name in the results the bots with this name. None stands for people and for imported bots."""
        bots: dict[str, frozenset[UUID | None]] = {}
        async for spoke in self._spoken(revision.campaign):
            if spoke.state is ConversationState.COMPLETE:
                for side in spoke.participants:
                    bots[side.name] = bots.get(side.name, frozenset()) | {side.bot_id}
        return bots

    def _forget_failed(self, campaign_id: UUID) -> None:
        read = self._read.get(campaign_id)
        if read is not None and read.has_failed:
            del self._read[campaign_id]

    def _forget_beyond_limits(self) -> None:
        campaigns, annotations = 0, 0
        for campaign_id, read in reversed(list(self._read.items())):
            if not read.labelled.done() or read.has_failed:
                continue
            campaigns += 1
            annotations += len(read.labelled.result().annotations)
            if campaigns > 1 and (campaigns > _MAX_CAMPAIGNS or annotations > _MAX_ANNOTATIONS):
                del self._read[campaign_id]

    def _forget_unused_later(self) -> None:
        if self._timer is None and self._read:
            self._timer = asyncio.get_running_loop().call_later(self._unused_seconds / 5, self._forget_unused)

    def _forget_unused(self) -> None:
        self._timer = None
        since = asyncio.get_running_loop().time() - self._unused_seconds
        for campaign_id in [each for each, read in self._read.items() if read.labelled.done() and read.used_at < since]:
            del self._read[campaign_id]
        self._forget_unused_later()

    async def _fetch(self, revision: CampaignRevision) -> LabelledCampaign:
        campaign, known = revision.campaign, Known()
        streamed = self._annotation.stream_annotations(campaign.id, judges=revision.judges)
        annotations = [coded_annotation(each, campaign, known) async for each in streamed if is_whole(each)]
        packages = [package async for package in self._annotation.list_packages(campaign.id)]
        return labelled_of(campaign, annotations, packages, [spoke async for spoke in self._spoken(campaign)])

    async def _spoken(self, campaign: CampaignOut) -> AsyncIterator[SpeakersOut]:
        for collection_id in campaign.collections:
            async for spoke in self._conversations.stream_speakers(collection_id):
                yield spoke


def _item(segment: SegmentRef) -> Hashable:
    return item_of(segment.conversation_id, segment.right.conversation_id if segment.right else None)


def load_campaign(annotation: Annotation, conversations: Conversations, campaign_id: UUID) -> LabelledCampaign:
    """Read a campaign with the protocol `spot_the_bot`, for the user's own programs, such as a notebook.

    Raises NoSuchCampaign, OtherProtocol, and the errors of the clients.
    """
    try:
        campaign = annotation.get_campaign(campaign_id)
    except NotFound as refused:
        raise NoSuchCampaign(campaign_id=campaign_id) from refused
    require_protocol(campaign, SPOT_THE_BOT)
    known = Known()
    annotations = [coded_annotation(each, campaign, known) for each in annotation.stream_annotations(campaign_id)]
    packages = list(annotation.list_packages(campaign_id))
    spoken = [spoke for each in campaign.collections for spoke in conversations.stream_speakers(each)]
    return labelled_of(campaign, annotations, packages, spoken)


async def load_campaign_async(
    annotation: AsyncAnnotation, conversations: AsyncConversations, campaign_id: UUID
) -> LabelledCampaign:
    """Read a campaign like `load_campaign`, but with clients on an event loop."""
    campaign_data = CampaignData(annotation, conversations)
    return await campaign_data.read(await campaign_data.current_revision(campaign_id))
