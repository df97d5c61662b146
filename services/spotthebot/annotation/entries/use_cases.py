"""Entry of annotators: entry links, entries, consent."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.domain import Annotator
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.attempts.use_cases import has_passed
from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.entries import store
from spotthebot.annotation.entries.errors import ConsentToAnotherText, EntryLinkUsedUp, NoConsentAsked
from spotthebot.annotation.entry_links import store as entry_links_store
from spotthebot.annotation.entry_links.domain.entry_links import (
    EntryLink,
    default_max_annotators,
    not_genuine,
    panel_key,
    read_token,
    require_signed_id,
    sign,
    verify,
)
from spotthebot.annotation.entry_links.domain.panels import (
    Completion,
    PanelIdentity,
    entry_query,
    id_parameter,
    is_preview,
    read_identity,
    require_id,
)
from spotthebot.annotation.entry_links.errors import EntryLinkNamesNobody, EntryRefused, NoSuchEntryLink
from spotthebot.annotation.entry_links.use_cases import completion_of, lock_annotator, require_link
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.packages import store as packages_store
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.entries import ConsentIn, EntryLinkIn
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.errors import FieldError
from spotthebot.kit.ids import new_id


@dataclass(frozen=True)
class Entry:
    """A person who entered a campaign. There is no annotator yet if the panel shows a preview."""

    campaign: Campaign
    link: EntryLink
    annotator: Annotator | None
    is_trained: bool
    completion: Completion | None


@dataclass(frozen=True)
class MadeLink:
    """A new link, the query of its URL, and the key with which its panel signs ids, if the link requires signed ids."""

    link: EntryLink
    query: str
    signing_key: str | None


async def create_link(
    session: WriteSession, campaign_id: UUID, frontend: str | None, request: EntryLinkIn, *, now: datetime
) -> MadeLink:
    """Make a link into a campaign for one frontend, or for all; return it with its token and its panel's key.

    Raises PeopleNotCounted, and EntryLinkNamesNobody if neither the link nor a panel identifies the person.
    """
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    campaign.require_live()
    if request.annotator is not None:
        require_id(campaign.panel, request.annotator)
    elif campaign.panel is None:
        raise EntryLinkNamesNobody(name=campaign.name)
    max_annotators = request.max_annotators
    if max_annotators is None and request.annotator is None:
        workload = await packages_store.get_workload(session, campaign_id)
        max_annotators = await asyncio.to_thread(default_max_annotators, campaign, workload)
    link = EntryLink(
        id=new_id(),
        campaign_id=campaign_id,
        frontend=frontend,
        annotator=request.annotator,
        expires_at=now + timedelta(hours=request.expires_in_hours),
        max_annotators=max_annotators,
        signed_ids=request.signed_ids,
    )
    await entry_links_store.add_link(session, link)
    secret = await campaigns_store.get_secret(session, campaign_id)
    query = entry_query(campaign.panel, sign(link, secret))
    return MadeLink(link, query, panel_key(link, secret) if link.signed_ids else None)


async def revoke_link(
    session: WriteSession, campaign_id: UUID, link_id: UUID, frontend: str | None, *, key_id: UUID, now: datetime
) -> None:
    """Revoke a link: nobody can enter by it, and people who entered by it can't claim. A repeat changes nothing.

    Packages without answers go to other annotators; packages with answers can still be submitted. A frontend may revoke
    only its own links: raises NoSuchEntryLink for any other link.
    """
    link = await entry_links_store.lock_link(session, campaign_id, link_id)
    if frontend not in {None, link.frontend}:
        raise NoSuchEntryLink(link_id=link_id)
    if link.revoked_at is not None:
        return
    await entry_links_store.revoke_link(session, link_id, now)
    if idle := await store.lock_idle(session, link_id):
        await leases_store.end_leases_of(session, idle, now)
    await audit_store.add(
        session, campaign_id, key_id=key_id, action="entry_link.revoked", annotator_id=None, link=str(link_id)
    )


async def enter(
    session: WriteSession,
    frontend: str,
    parameters: Mapping[str, str],
    *,
    now: datetime,
    admit: Callable[[UUID], None] = lambda _: None,
) -> Entry:
    """Resolve the query parameters with which a person entered; a repeat changes nothing.

    `admit` gets the id of the link, and may refuse a new person with an unsigned id. Raises EntryLinkNotGenuine,
    EntryLinkRevoked, EntryLinkExpired, EntryLinkUsedUp, EntryRefused, CampaignClosed before packages are made, and
    OtherAnnotatorKind if a program of this frontend has the person's id.
    """
    token = read_token(parameters)
    link = await entry_links_store.find_link(session, token.link_id, frontend)
    secret = None if link is None else await campaigns_store.find_secret(session, link.campaign_id)
    if link is None or secret is None:
        raise not_genuine()
    verify(token, link, secret)
    link.require_current(now)
    campaign = await campaigns_store.get_campaign(session, link.campaign_id)
    campaign.require_built()
    if is_preview(campaign.panel, parameters):
        return Entry(campaign, link, None, is_trained=campaign.training is None, completion=None)
    identity = _identity(campaign, link, parameters)
    require_signed_id(link, secret, identity.annotator, parameters)
    annotator_id, is_new = await annotators_store.lock_annotator(
        session, campaign.id, frontend, identity.annotator, AnnotatorKind.PERSON
    )
    if is_new and link.takes_any_id:
        admit(link.id)
    annotator = await annotators_store.get_annotator(session, campaign.id, annotator_id)
    if not await entry_links_store.has_entered(session, link.id, annotator.id) and not (
        await entry_links_store.count_annotator(session, link.id)
    ):
        raise EntryLinkUsedUp(limit=link.max_annotators)
    await entry_links_store.add_entry(session, link.id, annotator.id, identity.parameters, now)
    submitted = await assignments_store.find_last_submitted(session, annotator.id)
    completion = None
    if submitted is not None:  # without a panel, the package's own code proves the work
        completion = await completion_of(session, campaign, identity.annotator, submitted)
        completion = completion or Completion("code", code=submitted.completion_code)
    is_trained = await has_passed(session, campaign, annotator.id)
    return Entry(campaign, link, annotator, is_trained=is_trained, completion=completion)


def _identity(campaign: Campaign, link: EntryLink, parameters: Mapping[str, str]) -> PanelIdentity:
    """Return the identity of the person; raises EntryRefused if panel and link name different persons."""
    panel = campaign.panel
    if link.annotator is not None and (panel is None or id_parameter(panel) not in parameters):
        return PanelIdentity(link.annotator, {})
    if panel is None:
        raise EntryLinkNamesNobody(name=campaign.name)
    identity = read_identity(panel, parameters)
    if link.annotator not in {None, identity.annotator}:
        fault = FieldError(f"/parameters/{id_parameter(panel)}", "must name the person whom the link is for")
        raise EntryRefused(fields=(fault,))
    return identity


async def give_consent(
    session: WriteSession,
    campaign_id: UUID,
    frontend: str,
    request: ConsentIn,
    *,
    key_id: UUID,
    now: datetime,
) -> Annotator:
    """Store an annotator's consent to a campaign's text; a repeat keeps the first time.

    If the annotator had consented to an earlier text, the audit log keeps the hash of that text and the time of that
    consent.

    Raises NoConsentAsked, ConsentToAnotherText, and the errors of `lock_annotator`.
    """
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    campaign.require_live()
    campaign.require_built()
    if campaign.consent_sha256 is None:
        raise NoConsentAsked(name=campaign.name)
    if request.sha256 != campaign.consent_sha256:
        raise ConsentToAnotherText
    require_id(campaign.panel, request.annotator)
    annotator_id, _ = await lock_annotator(session, campaign_id, frontend, request)
    await require_link(session, request.link)
    annotator = await annotators_store.get_annotator(session, campaign_id, annotator_id)
    if annotator.has_consented(campaign):
        return annotator
    if annotator.consent_sha256 is not None and annotator.consented_at is not None:
        await audit_store.add(
            session,
            campaign_id,
            key_id=key_id,
            action="annotator.consented_again",
            annotator_id=annotator.id,
            consent=f"SHA-256 {annotator.consent_sha256} -> SHA-256 {request.sha256}",
            consented_before=annotator.consented_at.isoformat(timespec="seconds"),
        )
    await annotators_store.set_consent(session, annotator.id, request.sha256, now)
    return await annotators_store.get_annotator(session, campaign_id, annotator.id)


async def withdraw_consent(
    session: WriteSession, campaign_id: UUID, frontend: str, external_id: str, *, key_id: UUID, now: datetime
) -> Annotator:
    """Withdraw an annotator's consent. The package that they hold goes to other annotators; submitted packages stay.

    Raises NoSuchAnnotator, and NoConsentAsked if the campaign has no text and the annotator never consented to one.
    """
    annotator = await annotators_store.lock_known_annotator(session, campaign_id, frontend, external_id)
    if annotator.consent_sha256 is None:
        campaign = await campaigns_store.get_campaign(session, campaign_id)
        if campaign.consent_sha256 is None and annotator.consent_withdrawn_at is None:
            raise NoConsentAsked(name=campaign.name)
        return annotator
    await annotators_store.withdraw_consent(session, annotator.id, now)
    await leases_store.end_leases_of(session, [annotator.id], now)
    await audit_store.add(
        session, campaign_id, key_id=key_id, action="annotator.consent_withdrawn", annotator_id=annotator.id
    )
    return await annotators_store.get_annotator(session, campaign_id, annotator.id)
