"""Creates a declared campaign, or finds the one that the same file made before, and waits for its packages."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.domain.allocation import Allocation, Candidate, Unit, allocate
from spotthebot.annotation.domain.errors import CollectionsNotMixed
from spotthebot.annotation.use_cases.collections import mix_of
from spotthebot.clients import AsyncAnnotation, AsyncConversations, NotFound, PeerRefused
from spotthebot.contracts.annotation import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.previews import CampaignPreviewOut
from spotthebot.contracts.protocols import ProtocolIn
from spotthebot.contracts.repeated_texts import RepeatedTexts
from spotthebot.contracts.requirements import GoldItems, RequiredTraining
from spotthebot.contracts.trainings import TrainingIn
from spotthebot.suite.campaigns.declaration_file import CampaignDeclared
from spotthebot.suite.campaigns.resolution import resolve
from spotthebot.suite.declarations import faults_of
from spotthebot.suite.errors import CampaignNameTaken, JobFailed
from spotthebot.suite.poll import poll_until
from spotthebot.suite.runtime.session import Clients

_COMPARED = (
    "human_share",
    "segments",
    "annotations_per_segment",
    "package_size",
    "packages_per_annotator",
    "lease_minutes",
    "pay_per_package",
    "currency",
    "panel",
    "max_strikes",
    "min_seconds_per_item",
    "min_fraction_of_median",
    "strike_fast_packages",
    "protocol",
    "seed",
)


@dataclass(frozen=True)
class DeclaredCampaign:
    """A campaign, what it will take, whether this call created it, and texts that its collections repeat."""

    campaign: CampaignOut
    preview: CampaignPreviewOut
    unit: Unit
    is_new: bool
    repeated_texts: tuple[RepeatedTexts, ...]

    @property
    def account(self) -> dict[str, Any]:
        """The document that `--json` writes."""
        campaign = self.campaign
        used = campaign.items * self.unit.dialogues // (len(self.unit.lengths) or 1)
        too_short = campaign.too_short or 0
        packages, items = campaign.packages, campaign.items
        return _account(campaign.name, campaign, packages, items, used, too_short, self.repeated_texts)


@dataclass(frozen=True)
class Estimate:
    """What a campaign would hold; `campaign` is there already where the file was declared before."""

    request: CampaignIn
    unit: Unit
    campaign: CampaignOut | None
    allocation: Allocation
    not_selected: int
    repeated_texts: tuple[RepeatedTexts, ...]

    @property
    def account(self) -> dict[str, Any]:
        """The document that `--json` writes; `campaign` is null where there is none yet."""
        packages = self.allocation.packages
        segments = sum(len(package.items) for package in packages)
        used = len(self.allocation.conversations)
        too_short = self.allocation.too_short
        return _account(self.request.name, self.campaign, len(packages), segments, used, too_short, self.repeated_texts)


async def declare(clients: Clients, declared: CampaignDeclared, *, opens: bool) -> DeclaredCampaign:
    """Create the campaign, or find the one of the same name and content, and return it with its packages.

    With `opens` a draft or a paused campaign is opened. Raises DeclarationFaulty for what only the services can know to
    be wrong, CampaignNameTaken where another file made a campaign of this name, and JobFailed where no packages can be
    made.
    """
    resolved = await resolve(clients, declared, opens=opens)
    request = resolved.request
    found = await _find(clients.annotation, declared, request)
    campaign = await build(clients.annotation, found or await _create(clients.annotation, declared, request))
    if opens and campaign.state in {CampaignState.DRAFT, CampaignState.PAUSED}:
        campaign = await clients.annotation.open_campaign(campaign.id)
    preview = await clients.annotation.preview_campaign(campaign.id)
    repeated = await _repeated_texts(clients.conversations, campaign.collections)
    return DeclaredCampaign(campaign, preview, resolved.unit, is_new=found is None, repeated_texts=repeated)


async def estimate(clients: Clients, declared: CampaignDeclared) -> Estimate:
    """Return what the campaign would hold, by the allocation that the service makes; nothing is stored.

    Services alone learn which conversations have the same speakers: it counts as if all had others. Raises as `declare`
    does, and NothingToAnnotate where every conversation is too short.
    """
    resolved = await resolve(clients, declared, opens=False)
    request = resolved.request
    found = await _find(clients.annotation, declared, request)
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
        repeated_texts=await _repeated_texts(clients.conversations, request.collections),
    )


async def build(annotation: AsyncAnnotation, campaign: CampaignOut) -> CampaignOut:
    """Wait until a campaign's packages are there; raises JobFailed where none can be made."""
    built = await poll_until(
        lambda: annotation.get_campaign(campaign.id),
        lambda found: found.state is not CampaignState.BUILDING,
        "Building packages",
    )
    if built.failure:
        raise JobFailed(what="The campaign", reason=built.failure)
    return built


async def _repeated_texts(conversations: AsyncConversations, collections: Sequence[UUID]) -> tuple[RepeatedTexts, ...]:
    found: list[RepeatedTexts] = []
    for collection_id in collections:
        with suppress(NotFound):  # nothing was flagged so far
            found += (await conversations.get_quality(collection_id)).repeated_texts
    return tuple(found)


async def _find(annotation: AsyncAnnotation, declared: CampaignDeclared, request: CampaignIn) -> CampaignOut | None:
    """Return the campaign that the same file made; one that failed holds nothing, and keeps no name from another."""
    taken = []
    async for campaign in annotation.list_campaigns(name=request.name):
        differences = list(_differences(declared, request, campaign))
        if not differences:
            return campaign
        if campaign.state is not CampaignState.FAILED:
            taken.append(differences)
    if taken:
        raise CampaignNameTaken(name=request.name, differences="; ".join(taken[0]))
    return None


def _differences(declared: CampaignDeclared, request: CampaignIn, campaign: CampaignOut) -> Iterator[str]:
    if campaign.mode != "live":
        yield f"its mode is {campaign.mode} there, live here"
    if campaign.collections != request.collections:
        there, here = (", ".join(map(str, each)) for each in (campaign.collections, request.collections))
        yield f"collections is {there} there, {here} here"
    for key in _COMPARED:
        before, now = getattr(campaign, key), getattr(request, key)
        if before != now:
            yield f"{key} is {_written(before)} there, {_written(now)} here"
    if declared.protocol and (request.protocol, request.protocol_version) != (
        campaign.protocol,
        campaign.protocol_version,
    ):
        yield f"the protocol is of version {campaign.protocol_version} there, {request.protocol_version} here"
    if differs := _requirement("training", campaign.training, request.training):
        yield differs
    if differs := _requirement("gold", campaign.gold, request.gold):
        yield differs
    if campaign.instructions != request.instructions:
        yield "the instructions are others"
    if campaign.consent != request.consent:
        yield "the text of consent is another"


def _requirement(
    name: str, there: RequiredTraining | GoldItems | None, here: RequiredTraining | GoldItems | None
) -> str | None:
    """Say how a requirement differs; one without a version is for any."""
    expected = here
    if here is not None and there is not None and here.version is None:
        expected = here.model_copy(update={"version": there.version})
    if there == expected:
        return None
    written = (_written(each and each.model_dump()) for each in (there, here))
    return f"{name} is {' there, '.join(written)} here"


async def _create(annotation: AsyncAnnotation, declared: CampaignDeclared, request: CampaignIn) -> CampaignOut:
    body = json.dumps(request.model_dump(mode="json"), sort_keys=True)
    api_keys: Mapping[str, str] = {}
    try:
        if declared.protocol is not None:
            await annotation.create_protocol(ProtocolIn(protocol=declared.protocol))
        api_keys = {"training": "trainings"}
        for training in declared.trainings:
            await annotation.create_training(TrainingIn(training=training))
        api_keys = {"pay_per_package": "pay", "currency": "pay", "protocol_version": "protocol"}
        # Two calls at once make one campaign.
        key = f"campaign/{hashlib.sha256(body.encode()).hexdigest()}"
        return await annotation.create_campaign(request, idempotency_key=key)
    except PeerRefused as refused:
        raise faults_of(declared, refused, api_keys) from refused


def _account(
    name: str,
    campaign: CampaignOut | None,
    packages: int,
    segments: int,
    used: int,
    too_short: int,
    repeated: Sequence[RepeatedTexts],
) -> dict[str, Any]:
    return {
        "campaign": campaign and str(campaign.id),
        "name": name,
        "packages": packages,
        "segments": segments,
        "conversations": {"used": used, "too_short": too_short},
        "repeated_texts": [each.model_dump(mode="json") for each in repeated],
    }


def _written(value: object) -> str:
    return json.dumps(value, default=str)
