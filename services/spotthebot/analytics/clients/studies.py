"""Studies: a campaign's annotations and who spoke, read from `annotation` and `conversations`.

Annotators come under their pseudonyms, so no result holds an id of a panel.

A campaign that was read stays here until its annotations change, so that nine questions read it once, or until nobody
has asked for it for some minutes. Of each there is one study, that of the revision that was asked for last: a campaign
that grows would else be here many times.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final
from uuid import UUID

from spotthebot.analytics.clients.answers import Known, coded_annotation, played_sides
from spotthebot.analytics.domain.errors import NoSuchCampaign, OtherProtocol
from spotthebot.analytics.domain.leaderboard import PlayedSide
from spotthebot.analytics.domain.study import CodedAnnotation, Study
from spotthebot.clients import Annotation, AsyncAnnotation, AsyncConversations, Conversations, NotFound
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.contracts.annotation.packages import PackageOut
from spotthebot.contracts.conversations.conversations import ConversationState, ParticipantKind, SpeakersOut
from spotthebot.contracts.repeated_texts import shown_texts

SPOT_THE_BOT: Final = "spot_the_bot"
_ALIKE: Final = {SPOT_THE_BOT: (SPOT_THE_BOT, "spot_the_bot_labels")}
"""Protocols that are read as another, here one that asks for its labels and for no more."""
GAME: Final = "spot_the_bot_gamified"
ENDED: Final = frozenset({CampaignState.COMPLETE, CampaignState.CLOSED})
_MAX_STUDIES: Final = 8
_MAX_ANNOTATIONS: Final = 500_000
_UNUSED_SECONDS: Final = 300.0
"""A study that nobody asks for in this time goes; it goes a fifth later at most."""


@dataclass(frozen=True)
class CampaignRevision:
    """A campaign as it is now; `revision` is a fingerprint of everything that its results depend on."""

    campaign: CampaignOut
    revision: str


@dataclass
class _Read:
    """The study of a revision, which was read or is being read; `used_at` is on the event loop's clock."""

    revision: str
    study: asyncio.Task[Study]
    used_at: float = 0.0

    @property
    def has_failed(self) -> bool:
        return self.study.done() and (self.study.cancelled() or self.study.exception() is not None)


class Studies:
    """Campaigns with all that is known of them."""

    def __init__(
        self, annotation: AsyncAnnotation, conversations: AsyncConversations, *, unused_seconds: float = _UNUSED_SECONDS
    ) -> None:
        self._annotation = annotation
        self._conversations = conversations
        self._unused_seconds = unused_seconds
        self._read: OrderedDict[UUID, _Read] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None

    async def get_campaign(self, campaign_id: UUID, *, protocol: str = SPOT_THE_BOT) -> CampaignOut:
        """Return the campaign as it is now; raises NoSuchCampaign, and OtherProtocol."""
        try:
            campaign = await self._annotation.get_campaign(campaign_id)
        except NotFound as refused:
            raise NoSuchCampaign(campaign_id=campaign_id) from refused
        _require_protocol(campaign, protocol)
        return campaign

    async def current_revision(self, campaign_id: UUID, *, protocol: str = SPOT_THE_BOT) -> CampaignRevision:
        """Return the campaign as it is now, with its revision.

        Raises NoSuchCampaign, and OtherProtocol where it asks by another than `protocol`.
        """
        return await self.revision_of(await self.get_campaign(campaign_id, protocol=protocol))

    async def revision_of(self, campaign: CampaignOut) -> CampaignRevision:
        """Return a campaign that was just asked for, with its revision: one request for each collection, and one."""
        annotations, *collections = await asyncio.gather(
            self._annotation.annotations_revision(campaign.id),
            *map(self._conversations.get_collection, campaign.collections),
        )
        complete = sum(each.complete for each in collections)
        depends_on = (campaign.name, campaign.seed, campaign.packages, campaign.state, complete, annotations.revision)
        return CampaignRevision(campaign, blake2b(json.dumps(depends_on).encode(), digest_size=16).hexdigest())

    async def read(self, revision: CampaignRevision) -> Study:
        """Read all of a campaign, or return the study that was read of this revision before."""
        campaign = revision.campaign
        read = self._read.get(campaign.id)
        if read is None or read.revision != revision.revision:
            read = self._read[campaign.id] = _Read(revision.revision, asyncio.create_task(self._fetch(campaign)))
            # Those who wait for it may be gone when it fails.
            read.study.add_done_callback(lambda _: self._forget_failed(campaign.id))
        self._read.move_to_end(campaign.id)
        study = await asyncio.shield(read.study)
        read.used_at = asyncio.get_running_loop().time()
        self._forget_beyond_limits()
        self._forget_unused_later()
        return study

    async def read_game(self, revision: CampaignRevision) -> list[PlayedSide]:
        """Read what annotators decided in a game, and who spoke."""
        campaign = revision.campaign
        are_human = {
            spoke.id: tuple(each.kind is ParticipantKind.HUMAN for each in spoke.participants)
            async for spoke in self._spoken(campaign)
        }
        return [
            side
            async for annotation in self._annotation.stream_annotations(campaign.id)
            for side in played_sides(annotation, are_human[annotation.conversation_id])
        ]

    async def read_bots_by_name(self, revision: CampaignRevision) -> dict[str, frozenset[UUID | None]]:
        """Read which bots have each name that results may hold: None stands for people and imported bots."""
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
        studies, annotations = 0, 0
        for campaign_id, read in reversed(list(self._read.items())):
            if not read.study.done() or read.has_failed:
                continue
            studies += 1
            annotations += len(read.study.result().annotations)
            if studies > 1 and (studies > _MAX_STUDIES or annotations > _MAX_ANNOTATIONS):
                del self._read[campaign_id]

    def _forget_unused_later(self) -> None:
        if self._timer is None and self._read:
            self._timer = asyncio.get_running_loop().call_later(self._unused_seconds / 5, self._forget_unused)

    def _forget_unused(self) -> None:
        self._timer = None
        since = asyncio.get_running_loop().time() - self._unused_seconds
        for campaign_id in [each for each, read in self._read.items() if read.study.done() and read.used_at < since]:
            del self._read[campaign_id]
        self._forget_unused_later()

    async def _fetch(self, campaign: CampaignOut) -> Study:
        streamed, known = self._annotation.stream_annotations(campaign.id), Known()
        annotations = [coded_annotation(annotation, campaign, known) async for annotation in streamed]
        packages = [package async for package in self._annotation.list_packages(campaign.id)]
        return _study(campaign, annotations, packages, [spoke async for spoke in self._spoken(campaign)])

    async def _spoken(self, campaign: CampaignOut) -> AsyncIterator[SpeakersOut]:
        for collection_id in campaign.collections:
            async for spoke in self._conversations.stream_speakers(collection_id):
                yield spoke


def load_campaign(annotation: Annotation, conversations: Conversations, campaign_id: UUID) -> Study:
    """Read a campaign by the protocol `spot_the_bot` from a program of one's own, such as a notebook.

    Raises NoSuchCampaign, OtherProtocol, and the errors of the clients.
    """
    try:
        campaign = annotation.get_campaign(campaign_id)
    except NotFound as refused:
        raise NoSuchCampaign(campaign_id=campaign_id) from refused
    _require_protocol(campaign, SPOT_THE_BOT)
    known = Known()
    annotations = [coded_annotation(each, campaign, known) for each in annotation.stream_annotations(campaign_id)]
    packages = list(annotation.list_packages(campaign_id))
    spoken = [spoke for each in campaign.collections for spoke in conversations.stream_speakers(each)]
    return _study(campaign, annotations, packages, spoken)


async def load_campaign_async(
    annotation: AsyncAnnotation, conversations: AsyncConversations, campaign_id: UUID
) -> Study:
    """Read a campaign as `load_campaign` does, by clients on an event loop."""
    studies = Studies(annotation, conversations)
    return await studies.read(await studies.current_revision(campaign_id))


def _require_protocol(campaign: CampaignOut, protocol: str) -> None:
    if campaign.protocol not in _ALIKE.get(protocol, (protocol,)):
        raise OtherProtocol(campaign=campaign.name, protocol=campaign.protocol, known=protocol)


def _study(
    campaign: CampaignOut,
    annotations: Sequence[CodedAnnotation],
    packages: Sequence[PackageOut],
    spoken: Sequence[SpeakersOut],
) -> Study:
    speakers: dict[Hashable, tuple[str, str]] = {}
    for spoke in spoken:
        if spoke.state is ConversationState.COMPLETE:
            first, second = spoke.participants
            speakers[spoke.id] = (first.name, second.name)
    return Study(
        campaign_id=campaign.id,
        campaign=campaign.name,
        domain=campaign.domain,
        complete=campaign.state in ENDED,
        speakers=speakers,
        packages={each.id: frozenset(segment.conversation_id for segment in each.segments) for each in packages},
        annotations=annotations,
        texts=dict[Hashable, Hashable](shown_texts(packages).items()),
    )
