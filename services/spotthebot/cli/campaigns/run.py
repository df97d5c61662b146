"""Creates a declared campaign and waits for its packages. A second run of the same file finds the same campaign."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from spotthebot.cli.campaigns.declaration_file import CampaignDeclared
from spotthebot.cli.campaigns.own_packages import check_packages, upload_packages
from spotthebot.cli.campaigns.refusals import refusal_of
from spotthebot.cli.campaigns.resolution import resolve
from spotthebot.cli.errors import CampaignNameTaken
from spotthebot.cli.resources.reach import reach_of_campaign
from spotthebot.clients import AsyncAnnotation, AsyncConversations, PeerRefused
from spotthebot.contracts.annotation.campaign_changes import CampaignChangesIn, changes_to, document_of
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.annotation.previews import CampaignDryRunIn, CampaignEstimateOut, CampaignPreviewOut
from spotthebot.contracts.annotation.protocols import ProtocolIn
from spotthebot.contracts.annotation.trainings import TrainingIn
from spotthebot.contracts.repeated_texts import RepeatedTexts, find_repeated_texts, shown_texts
from spotthebot.local.background import wait_until_built
from spotthebot.local.runtime.session import Clients

if TYPE_CHECKING:
    from spotthebot.contracts.analytics.analyses import ReachOut


@dataclass(frozen=True)
class DeclaredCampaign:
    """A campaign that was declared, with its preview.

    `is_new` says that this call created it, `changed` names the fields that this call changed, `opened` says that this
    call opened an existing one. `repeated_texts` are texts that conversations of its collections have in common.
    """

    campaign: CampaignOut
    preview: CampaignPreviewOut
    is_new: bool
    repeated_texts: tuple[RepeatedTexts, ...]
    reach: "ReachOut | None"
    changed: tuple[str, ...] = ()
    opened: bool = False

    @property
    def account(self) -> dict[str, Any]:
        """The JSON document that `--json` writes."""
        return _account(self.campaign.name, self.campaign, self.preview, self.repeated_texts, self.reach)


@dataclass(frozen=True)
class Estimate:
    """The estimated packages of a campaign. `campaign` is None if no earlier call created the campaign."""

    name: str
    campaign: CampaignOut | None
    estimate: CampaignEstimateOut
    repeated_texts: tuple[RepeatedTexts, ...]
    reach: "ReachOut | None"

    @property
    def account(self) -> dict[str, Any]:
        """The JSON document that `--json` writes. `campaign` is null if the campaign does not exist."""
        return _account(self.name, self.campaign, self.estimate, self.repeated_texts, self.reach)


async def declare(
    clients: Clients, declared: CampaignDeclared, *, opens: bool, changes: bool = False
) -> DeclaredCampaign:
    """Create the campaign and wait for its packages, or return an existing campaign of the same name and content.

    With `opens`, a draft or a paused campaign is opened. With `changes`, an existing campaign of this name is changed
    to the content of the file. Raises DeclarationFaulty for faults that only the services can find, CampaignNameTaken
    if a campaign of this name has other content, and JobFailed if its packages can't be made.
    """
    request, annotation = await resolve(clients, declared, opens=opens), clients.annotation
    named = await _named(annotation, request)
    found = named.same
    changed: tuple[str, ...] = ()
    if found is None and changes and len(named.others) == 1:
        changed = tuple(_differences(named.others[0], request))
        found = await _change(annotation, declared, named.others[0], request)
    elif found is None:
        named.require_free(request)
    campaign = await wait_until_built(annotation, found or await _create(annotation, declared, request))
    await upload_packages(annotation, declared, campaign)
    campaign = await annotation.get_campaign(campaign.id)
    if opened := opens and campaign.state in {CampaignState.DRAFT, CampaignState.PAUSED}:
        campaign = await annotation.open_campaign(campaign.id)
    preview = await annotation.preview_campaign(campaign.id)
    repeated = await _repeated_in(clients, campaign)
    reach = await _reach(clients, request, preview)
    return DeclaredCampaign(
        campaign, preview, is_new=found is None, repeated_texts=repeated, reach=reach, changed=changed, opened=opened
    )


async def check(clients: Clients, declared: CampaignDeclared, *, changes: bool) -> None:
    """Raise the errors of `declare` that can be known before it; nothing is stored."""
    request = await resolve(clients, declared, opens=False)
    named = await _named(clients.annotation, request)
    if named.same is not None:
        await check_packages(clients.annotation, declared, named.same)
    elif not (changes and len(named.others) == 1):
        named.require_free(request)
        await _try(clients.annotation, declared, request)


async def estimate(clients: Clients, declared: CampaignDeclared) -> Estimate:
    """Return the estimated packages of the campaign.

    `annotation` checks the request as for a creation, but stores nothing.

    Raises the errors of `declare`, and DeclarationFaulty if every conversation is too short.
    """
    request = await resolve(clients, declared, opens=False)
    named = await _named(clients.annotation, request)
    if named.same is None:
        named.require_free(request)
    else:
        await check_packages(clients.annotation, declared, named.same)
    found = await _try(clients.annotation, declared, request)
    return Estimate(
        request.name,
        named.same,
        found,
        repeated_texts=await _repeated_in_mix(clients.conversations, request, found),
        reach=await _reach(clients, request, found),
    )


async def _try(annotation: AsyncAnnotation, declared: CampaignDeclared, request: CampaignIn) -> CampaignEstimateOut:
    """Return the service's estimate, with the file's own protocol and trainings; raises DeclarationFaulty."""
    tried = CampaignDryRunIn(
        **dict(request),
        protocol_document=declared.files.protocol,
        training_documents=declared.files.trainings,
        packages=declared.request.packages,
    )
    try:
        return await annotation.estimate_campaign(tried)
    except PeerRefused as refused:
        raise refusal_of(declared, refused) from refused


async def _reach(clients: Clients, request: CampaignIn, found: CampaignEstimateOut) -> "ReachOut | None":
    """Return which differences between its bots the campaign can show.

    None if two bots never met, or if the campaign shows no segments, or listed packages.
    """
    if not found.lengths or request.mode == "uploaded":
        return None
    return await reach_of_campaign(
        clients,
        request.collection_ids,
        annotations_per_conversation=len(found.lengths)
        * request.annotations_per_segment
        * (2 if found.units_twice else 1),
        annotators=max(2, found.assignments),
    )


async def _repeated_in(clients: Clients, campaign: CampaignOut) -> tuple[RepeatedTexts, ...]:
    """Return the speakers with repeated texts in a campaign's packages.

    The texts of a speaker are repeated if several conversations have the same text. Conversations from all collections
    of the campaign are compared with each other.
    """
    texts = shown_texts([each async for each in clients.annotation.list_packages(campaign.id)])
    return await _repeated_texts(clients.conversations, campaign.collections, texts)


async def _repeated_in_mix(
    conversations: AsyncConversations, request: CampaignIn, found: CampaignEstimateOut
) -> tuple[RepeatedTexts, ...]:
    """Return the speakers with repeated texts for a campaign that does not exist yet.

    The campaign may draw other human-human conversations than this estimate. Listed packages are not looked at before
    they are uploaded.
    """
    if request.mode == "uploaded":
        return ()
    first, *also = request.collection_ids
    hashes = conversations.stream_text_hashes(
        first,
        also=also,
        exchanges=max(found.lengths, default=1),
        human_share=request.human_share,
        seed=0,
        shown=max(found.lengths, default=None),
    )
    texts = {each.id: each.text_hash async for each in hashes if each.text_hash is not None}
    return await _repeated_texts(conversations, request.collection_ids, texts)


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
    """The existing campaigns of a name.

    `same` is the campaign that has the request's content, `others` are all campaigns of the name that did not fail.
    """

    same: CampaignOut | None
    others: tuple[CampaignOut, ...]

    def require_free(self, request: CampaignIn) -> None:
        """Raise CampaignNameTaken if a campaign of this name exists."""
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
    """Change an existing campaign to the file's content; raises DeclarationFaulty if a field can't be changed."""
    await _store_documents(annotation, declared, request)
    try:
        return await annotation.change_campaign(campaign.id, CampaignChangesIn(changes_to(campaign, request)))
    except PeerRefused as refused:
        raise refusal_of(declared, refused) from refused


async def _create(annotation: AsyncAnnotation, declared: CampaignDeclared, request: CampaignIn) -> CampaignOut:
    await _store_documents(annotation, declared, request)
    body = json.dumps(request.model_dump(mode="json"), sort_keys=True)
    # Two calls at once make one campaign.
    key = f"campaign/{hashlib.sha256(body.encode()).hexdigest()}"
    try:
        return await annotation.create_campaign(request, idempotency_key=key)
    except PeerRefused as refused:
        raise refusal_of(declared, refused) from refused


async def _store_documents(annotation: AsyncAnnotation, declared: CampaignDeclared, request: CampaignIn) -> None:
    """Store the protocol and the trainings that the file names.

    Stored documents can't be deleted. So the service first checks the campaign together with them, and with packages.
    """
    if declared.files.protocol is None and not declared.files.trainings and not declared.request.packages:
        return
    await _try(annotation, declared, request)
    if declared.files.protocol is not None:
        await annotation.create_protocol(ProtocolIn(protocol=declared.files.protocol))
    for training in declared.files.trainings:
        await annotation.create_training(TrainingIn(training=training))


def _account(
    name: str,
    campaign: CampaignOut | None,
    found: CampaignEstimateOut,
    repeated: Sequence[RepeatedTexts],
    reached: "ReachOut | None",
) -> dict[str, Any]:
    return {
        "campaign": campaign and str(campaign.id),
        "name": name,
        "packages": found.packages,
        "segments": found.items,
        "conversations": {"used": found.conversations, "too_short": found.too_short or 0},
        "repeated_texts": [each.model_dump(mode="json") for each in repeated],
        "reach": reached and reached.model_dump(mode="json"),
    }
