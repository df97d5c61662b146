"""Change a campaign, a draft or one that runs, and delete a draft; the audit log notes each."""

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from uuid import UUID

from pydantic import ValidationError

from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaign_setup import store
from spotthebot.annotation.campaign_setup.domain.changes import PACKED, changed_keys, require_changeable
from spotthebot.annotation.campaign_setup.errors import AnnotatorsEntered, ChangedMeanwhile, ChangesInvalid
from spotthebot.annotation.campaign_setup.use_cases.collections import check_collections
from spotthebot.annotation.campaign_setup.use_cases.lifecycle import settled
from spotthebot.annotation.campaign_setup.use_cases.packages import NewConversations, add_new, fetch_new, queue_building
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.clients import Conversations
from spotthebot.contracts.annotation.campaign_changes import CHANGEABLE, UNSEEN, Document, changed, document_of
from spotthebot.contracts.annotation.campaigns import CampaignIn
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.errors import FieldError
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.text.validation import reason_of

_TEXTS = ("instructions", "consent")


@dataclass(frozen=True)
class PreparedChange:
    """A campaign as it was, and what it needs from `conversations` to be changed; None where nothing."""

    campaign: Campaign
    new: NewConversations | None


async def prepare_change(
    database: Database, conversations: Conversations, campaign_id: UUID, changes: Document
) -> PreparedChange:
    """Fetch the conversations of collections that a campaign is to have from now on; no session is open meanwhile.

    Raises what `change_campaign` raises, and what a new campaign over these collections does.
    """
    async with database.read() as session:
        campaign = await campaigns_store.get_campaign(session, campaign_id)
        after, _ = await _changed(session, campaign, changes)
    keys = changed_keys(campaign, after)
    if campaign.state in UNSEEN and keys & PACKED:
        await check_collections(database, conversations, after)
    elif "collections" in keys:
        await check_collections(database, conversations, after)
        wider = replace(campaign, collections=after.collection_ids)
        return PreparedChange(campaign, await fetch_new(database, conversations, wider))
    return PreparedChange(campaign, None)


async def change_campaign(
    session: WriteSession, jobs: Jobs, campaign_id: UUID, changes: Document, prepared: PreparedChange, *, key_id: UUID
) -> Campaign:
    """Change a campaign, and build a draft again where its packages would be others; no change changes nothing.

    Raises ChangesInvalid, ChangeRefused, CampaignNotBuilt, and ChangedMeanwhile where another request changed
    the collections since `prepared` was fetched.
    """
    if "annotations_per_segment" in changes:
        await store.lock_packages(session, campaign_id)
    await campaigns_store.lock_campaign(session, campaign_id)
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    after, protocol = await _changed(session, campaign, changes)
    keys = changed_keys(campaign, after)
    if not keys:
        return campaign
    was = prepared.campaign
    if "collections" in keys and (campaign.collections, campaign.state in UNSEEN) != (
        was.collections,
        was.state in UNSEEN,
    ):
        raise ChangedMeanwhile(name=campaign.name)
    result = await store.change_campaign(session, campaign, after, protocol)
    if campaign.state in UNSEEN and keys & PACKED:
        await store.build_again(session, campaign_id)
        await queue_building(session, jobs, campaign_id)
    elif "collections" in keys and prepared.new is not None:
        await add_new(session, result, prepared.new)
        await store.open_if_unfinished(session, campaign_id)
    if "name" in keys:
        await store.forget_answers(session, campaign_id)
    details = dict(_details(document_of(campaign), document_of(after), keys))
    await audit_store.add(session, campaign_id, key_id=key_id, action="campaign.changed", annotator_id=None, **details)
    return await campaigns_store.get_campaign(session, campaign_id)


async def delete_campaign(session: WriteSession, campaign_id: UUID, *, key_id: UUID) -> None:
    """Delete a draft with its packages and entry links; raises CampaignNotDeletable and AnnotatorsEntered."""
    await campaigns_store.lock_campaign(session, campaign_id, for_good=True)
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    campaign.require_deletable()
    if entered := await store.count_annotators(session, campaign_id):
        raise AnnotatorsEntered(count=entered, name=campaign.name)
    await store.delete_campaign(session, campaign_id)
    await store.forget_answers(session, campaign_id)
    await audit_store.add(session, campaign_id, key_id=key_id, action="campaign.deleted", name=campaign.name)


async def _changed(
    session: ReadSession, campaign: Campaign, changes: Document
) -> tuple[CampaignIn, AnnotationProtocol]:
    """Return what would make a campaign with its changes, and its protocol.

    Raises ChangesInvalid, ChangeRefused, CampaignNotBuilt, and what a new campaign raises.
    """
    unknown = [FieldError(f"/{name}", "can't be changed") for name in changes if name not in CHANGEABLE]
    if unknown:
        raise ChangesInvalid(fields=tuple(unknown))
    try:
        after = CampaignIn.model_validate(changed(document_of(campaign), _with_newest_versions(changes)))
    except ValidationError as error:
        faults = [FieldError("".join(f"/{part}" for part in each["loc"]), reason_of(each)) for each in error.errors()]
        raise ChangesInvalid(fields=tuple(faults)) from error
    after, protocol = await settled(session, after)
    require_changeable(campaign, after)
    return after, protocol


def _with_newest_versions(changes: Document) -> Document:
    """Return changes in which who names another protocol, training or gold means its newest version, unless said."""
    result = dict(changes)
    if "protocol" in changes:
        result.setdefault("protocol_version", None)
    for key, name in (("training", "name"), ("gold", "training")):
        inner = result.get(key)
        if isinstance(inner, dict) and name in inner:
            result[key] = {"version": None, **inner}
    return result


def _details(before: Document, after: Document, keys: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what became of each key; of a text the hashes, by which consent names it, and the words that it had."""
    for name in sorted(keys):
        old, new = before[name], after[name]
        if name in _TEXTS:
            hashes = [hashlib.sha256(str(each).encode()).hexdigest() for each in (old, new)]
            yield name, " -> ".join(f"SHA-256 {each}" for each in hashes)
            yield f"{name}_before", str(old)
        else:
            yield name, " -> ".join(json.dumps(each, ensure_ascii=False) for each in (old, new))
