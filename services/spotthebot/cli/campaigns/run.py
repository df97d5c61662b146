"""Creates a declared campaign, or finds the one that the same file made before, and waits for its packages."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from spotthebot.annotation.campaign_setup.use_cases.collections import mix_of
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.conversations.domain import Mix
from spotthebot.annotation.conversations.errors import CollectionsNotMixed
from spotthebot.annotation.packages.domain.allocation import Allocation, Candidate, allocate
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.cli.campaigns.declaration_file import CampaignDeclared
from spotthebot.cli.campaigns.resolution import resolve
from spotthebot.cli.declarations import faults_of
from spotthebot.cli.errors import CampaignNameTaken
from spotthebot.cli.resources.reach import reach_of_campaign
from spotthebot.clients import AsyncAnnotation, AsyncConversations, PeerRefused
from spotthebot.contracts.annotation.campaign_changes import CampaignChangesIn, changes_to, document_of
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.annotation.previews import CampaignPreviewOut
from spotthebot.contracts.annotation.protocols import ProtocolIn
from spotthebot.contracts.annotation.trainings import TrainingIn
from spotthebot.contracts.repeated_texts import RepeatedTexts, find_repeated_texts, shown_texts
from spotthebot.local.background import wait_until_built
from spotthebot.local.runtime.session import Clients

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.analyses import ReachOut

_API_KEYS: Final[Mapping[str, str]] = {"pay_per_package": "pay", "currency": "pay", "protocol_version": "protocol"}


@dataclass(frozen=True)
class DeclaredCampaign:
    """A campaign, what it will take, whether this call made or changed it, and texts that its collections repeat."""

    campaign: CampaignOut
    preview: CampaignPreviewOut
    unit: Unit
    is_new: bool
    repeated_texts: tuple[RepeatedTexts, ...]
    reach: "ReachOut | None"
    changed: tuple[str, ...] = ()

    @property
    def account(self) -> dict[str, Any]:
        """The document that `--json` writes."""
        campaign = self.campaign
        used = campaign.items * self.unit.dialogues // (len(self.unit.lengths) or 1)
        too_short = campaign.too_short or 0
        packages, items = campaign.packages, campaign.items
        said = _said(self.repeated_texts, self.reach)
        return _account(campaign.name, campaign, packages, items, used, too_short) | said


@dataclass(frozen=True)
class Estimate:
    """What a campaign would hold; `campaign` is there already where the file was declared before."""

    request: CampaignIn
    unit: Unit
    campaign: CampaignOut | None
    allocation: Allocation
    not_selected: int
    repeated_texts: tuple[RepeatedTexts, ...]
    reach: "ReachOut | None"

    @property
    def account(self) -> dict[str, Any]:
        """The document that `--json` writes; `campaign` is null where there is none yet."""
        packages = self.allocation.packages
        segments = sum(len(package.items) for package in packages)
        used = len(self.allocation.conversations)
        too_short = self.allocation.too_short
        said = _said(self.repeated_texts, self.reach)
        return _account(self.request.name, self.campaign, len(packages), segments, used, too_short) | said


async def declare(
    clients: Clients, declared: CampaignDeclared, *, opens: bool, changes: bool = False
) -> DeclaredCampaign:
    """Create the campaign, or find the one of the same name and content, and return it with its packages.

    With `opens` a draft or a paused campaign is opened, with `changes` the campaign of this name becomes what the file
    says now. Raises DeclarationFaulty for what only the services can know to be wrong, CampaignNameTaken where another
    file made a campaign of this name, and JobFailed where no packages can be made.
    """
    resolved = await resolve(clients, declared, opens=opens)
    request, annotation = resolved.request, clients.annotation
    named = await _named(annotation, request)
    found = named.same
    changed: tuple[str, ...] = ()
    if found is None and changes and len(named.others) == 1:
        changed = tuple(_differences(named.others[0], request))
        found = await _change(annotation, declared, named.others[0], request)
    elif found is None:
        named.require_free(request)
    campaign = await wait_until_built(annotation, found or await _create(annotation, declared, request))
    if opens and campaign.state in {CampaignState.DRAFT, CampaignState.PAUSED}:
        campaign = await annotation.open_campaign(campaign.id)
    preview = await annotation.preview_campaign(campaign.id)
    repeated = await _repeated_in(clients, campaign)
    return DeclaredCampaign(
        campaign,
        preview,
        resolved.unit,
        is_new=found is None,
        repeated_texts=repeated,
        reach=await _reach(clients, request, resolved.unit),
        changed=changed,
    )


async def estimate(clients: Clients, declared: CampaignDeclared) -> Estimate:
    """Return what the campaign would hold, by the allocation that the service makes; nothing is stored.

    Services alone learn which conversations have the same speakers: it counts as if all had others. Raises as `declare`
    does, and NothingToAnnotate where every conversation is too short.
    """
    resolved = await resolve(clients, declared, opens=False)
    request = resolved.request
    named = await _named(clients.annotation, request)
    found = named.same
    if found is None:
        named.require_free(request)
    mix = mix_of(request.collections, resolved.unit, request.human_share)
    try:
        counts = await Conversations(clients.conversations).count_mix(mix)
    except CollectionsNotMixed as refused:
        faults = [((fault.pointer.removeprefix("/"),), fault.detail) for fault in refused.fields]
        raise declared.faulty(*faults) from refused
    lengths = [mix.exchanges] * counts.long_enough + [0] * counts.too_short
    candidates = [Candidate(UUID(int=number), exchanges, str(number)) for number, exchanges in enumerate(lengths)]
    allocation = allocate(candidates, resolved.unit, package_size=request.package_size, secret=b"", seed=request.seed)
    return Estimate(
        request,
        resolved.unit,
        found,
        allocation,
        not_selected=counts.repeated + counts.not_drawn,
        repeated_texts=await _repeated_in_mix(clients.conversations, mix, resolved.unit),
        reach=await _reach(clients, request, resolved.unit),
    )


async def _reach(clients: Clients, request: CampaignIn, unit: Unit) -> "ReachOut | None":
    """Return what the campaign can show of its pairs, where each side of a conversation is labelled."""
    if not unit.lengths:
        return None
    return await reach_of_campaign(clients, request.collection_ids, len(unit.lengths) * request.annotations_per_segment)


async def _repeated_in(clients: Clients, campaign: CampaignOut) -> tuple[RepeatedTexts, ...]:
    """Return whose conversations repeat one another's text in a campaign's packages, whatever their collections."""
    texts = shown_texts([each async for each in clients.annotation.list_packages(campaign.id)])
    return await _repeated_texts(clients.conversations, campaign.collections, texts)


async def _repeated_in_mix(conversations: AsyncConversations, mix: Mix, unit: Unit) -> tuple[RepeatedTexts, ...]:
    """Return the same of a campaign that is not there, which may draw other human-human conversations."""
    first, *also = mix.collections
    hashes = conversations.stream_text_hashes(
        first,
        also=also,
        exchanges=mix.exchanges,
        human_share=mix.human_share,
        seed=mix.seed,
        shown=max(unit.lengths, default=None),
    )
    texts = {each.id: each.text_hash async for each in hashes if each.text_hash is not None}
    return await _repeated_texts(conversations, mix.collections, texts)


async def _repeated_texts(
    conversations: AsyncConversations, collections: Sequence[UUID], texts: Mapping[UUID, str]
) -> tuple[RepeatedTexts, ...]:
    spoken = [
        each
        for collection_id in collections
        async for each in conversations.stream_speakers(collection_id)
        if each.id in texts
    ]
    return find_repeated_texts(
        ((each.participants[0].name, each.participants[1].name), texts[each.id]) for each in spoken
    )


@dataclass(frozen=True)
class _Named:
    """The campaigns of a name: one that a request would make again, and others; a failed one keeps no name."""

    same: CampaignOut | None
    others: tuple[CampaignOut, ...]

    def require_free(self, request: CampaignIn) -> None:
        """Raise CampaignNameTaken."""
        if self.others:
            differences = "; ".join(_differences(self.others[0], request))
            raise CampaignNameTaken(name=request.name, differences=differences)


async def _named(annotation: AsyncAnnotation, request: CampaignIn) -> _Named:
    found = [each async for each in annotation.list_campaigns(name=request.name)]
    same = next((each for each in found if not changes_to(each, request)), None)
    return _Named(same, tuple(each for each in found if each.state is not CampaignState.FAILED))


def _differences(campaign: CampaignOut, request: CampaignIn) -> Iterator[str]:
    there, here = document_of(campaign), document_of(request)
    for key in changes_to(campaign, request):
        match key:
            case "instructions":
                yield "the instructions differ"
            case "consent":
                yield "the text of consent is another"
            case "protocol_version":
                yield f"the protocol is of version {there[key]} there, {here[key]} here"
            case _:
                yield f"{key} is {json.dumps(there[key])} there, {json.dumps(here[key])} here"


async def _change(
    annotation: AsyncAnnotation, declared: CampaignDeclared, campaign: CampaignOut, request: CampaignIn
) -> CampaignOut:
    """Make of a campaign what a file says; raises DeclarationFaulty with what may not change."""
    try:
        await _store_documents(annotation, declared)
        return await annotation.change_campaign(campaign.id, CampaignChangesIn(changes_to(campaign, request)))
    except PeerRefused as refused:
        raise faults_of(declared, refused, _API_KEYS) from refused


async def _create(annotation: AsyncAnnotation, declared: CampaignDeclared, request: CampaignIn) -> CampaignOut:
    body = json.dumps(request.model_dump(mode="json"), sort_keys=True)
    try:
        await _store_documents(annotation, declared)
        # Two calls at once make one campaign.
        key = f"campaign/{hashlib.sha256(body.encode()).hexdigest()}"
        return await annotation.create_campaign(request, idempotency_key=key)
    except PeerRefused as refused:
        raise faults_of(declared, refused, _API_KEYS) from refused


async def _store_documents(annotation: AsyncAnnotation, declared: CampaignDeclared) -> None:
    """Store the protocol and the trainings that a file names; raises DeclarationFaulty."""
    try:
        if declared.protocol is not None:
            await annotation.create_protocol(ProtocolIn(protocol=declared.protocol))
    except PeerRefused as refused:
        raise faults_of(declared, refused, {}) from refused
    try:
        for training in declared.trainings:
            await annotation.create_training(TrainingIn(training=training))
    except PeerRefused as refused:
        raise faults_of(declared, refused, {"training": "trainings"}) from refused


def _account(
    name: str,
    campaign: CampaignOut | None,
    packages: int,
    segments: int,
    used: int,
    too_short: int,
) -> dict[str, Any]:
    return {
        "campaign": campaign and str(campaign.id),
        "name": name,
        "packages": packages,
        "segments": segments,
        "conversations": {"used": used, "too_short": too_short},
    }


def _said(repeated: Sequence[RepeatedTexts], reached: "ReachOut | None") -> dict[str, Any]:
    return {
        "repeated_texts": [each.model_dump(mode="json") for each in repeated],
        "reach": None if reached is None else reached.model_dump(mode="json"),
    }
