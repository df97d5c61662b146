"""Change a draft or a running campaign, and delete a draft; the audit log records each change."""

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
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.text.validation import reason_of

_TEXTS = ("instructions", "consent")


@dataclass(frozen=True)
class PreparedChange:
    """A campaign before its change, and the new conversations; None if the change needs no new conversations."""

    campaign: Campaign
    new: NewConversations | None


async def prepare_change(
    database: Database, conversations: Conversations, campaign_id: UUID, changes: Document
) -> PreparedChange:
    """Fetch the conversations that a changed campaign will need; no session is open meanwhile.

    Raises the errors of `change_campaign`, and the errors of a new campaign over these collections.
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
    """Change a campaign, and make a draft's packages again if they would differ. An empty change does nothing.

    Raises ChangesInvalid, ChangeRefused, CampaignNotBuilt, and ChangedMeanwhile if another request changed the
    collections since `prepared` was fetched.
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
    """Return the request that would create the changed campaign, and the campaign's protocol.

    Raises ChangesInvalid, ChangeRefused, CampaignNotBuilt, and the errors of a new campaign.
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
    """Return changes in which a newly named protocol, training or gold without a version gets its newest version."""
    result = dict(changes)
    if "protocol" in changes:
        result.setdefault("protocol_version", None)
    for key, name in (("training", "name"), ("gold", "training")):
        inner = result.get(key)
        if isinstance(inner, dict) and name in inner:
            result[key] = {"version": None, **inner}
    return result


def _details(before: Document, after: Document, keys: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the old and new value of each changed key.

    For a text, yield the hashes of the old and the new text, as consent records them, and the old text.
    """
    for name in sorted(keys):
        old, new = before[name], after[name]
        if name in _TEXTS:
            hashes = [hashlib.sha256(str(each).encode()).hexdigest() for each in (old, new)]
            yield name, " -> ".join(f"SHA-256 {each}" for each in hashes)
            yield f"{name}_before", str(old)
        else:
            yield name, " -> ".join(json.dumps(each, ensure_ascii=False) for each in (old, new))
