"""Entry links, entries of people whom panels send, and their consent."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.annotation import store
from spotthebot.annotation.api.completions import completion_out
from spotthebot.annotation.api.deps import Frontend, LinkMaker, frontend_of
from spotthebot.annotation.domain.annotators import Annotator
from spotthebot.annotation.domain.pseudonyms import Pseudonyms
from spotthebot.annotation.use_cases import entries
from spotthebot.annotation.use_cases.entries import Entry
from spotthebot.contracts.access import Role
from spotthebot.contracts.entries import (
    ConsentIn,
    ConsentOut,
    ConsentTextOut,
    ConsentWithdrawalIn,
    EntryIn,
    EntryLinkIn,
    EntryLinkOut,
    EntryOut,
)
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Writing

router = APIRouter(prefix="/v1", tags=["entries"], route_class=IdempotentRoute)


@router.post("/campaigns/{campaign_id}/entry-links", status_code=201, operation_id="create_entry_link")
async def create_entry_link(
    session: Writing, caller: LinkMaker, now: Now, campaign_id: UUID, request: EntryLinkIn
) -> EntryLinkOut:
    """Make a signed link into a campaign; a frontend's serves that frontend alone."""
    frontend = frontend_of(caller) if caller.role == Role.ANNOTATION else None
    link, query = await entries.create_link(session, campaign_id, frontend, request, now=now)
    return EntryLinkOut(
        id=link.id,
        query=query,
        annotator=link.annotator,
        max_annotators=link.max_annotators,
        expires_at=link.expires_at,
    )


@router.post("/entries", operation_id="enter_campaign")
async def enter_campaign(session: Writing, caller: Frontend, now: Now, request: EntryIn) -> EntryOut:
    """Say who came with these query parameters, to which campaign, and what comes next; to be sent with each visit."""
    entry = await entries.enter(session, frontend_of(caller), request.parameters, now=now)
    return _entry_out(entry, await store.campaigns.get_pseudonyms(session, entry.campaign.id))


@router.post("/campaigns/{campaign_id}/consents", operation_id="give_consent")
async def give_consent(
    session: Writing, caller: Frontend, now: Now, campaign_id: UUID, request: ConsentIn
) -> ConsentOut:
    """Note that an annotator consents to the campaign's text; sent again it changes nothing."""
    return _consent_out(
        await entries.give_consent(
            session, campaign_id, frontend_of(caller), request.annotator, request.sha256, key_id=caller.key_id, now=now
        )
    )


@router.post("/campaigns/{campaign_id}/consents/withdraw", operation_id="withdraw_consent")
async def withdraw_consent(
    session: Writing, caller: Frontend, now: Now, campaign_id: UUID, request: ConsentWithdrawalIn
) -> ConsentOut:
    """Take an annotator's consent back: the package that they hold goes to others, what they submitted stays."""
    return _consent_out(
        await entries.withdraw_consent(
            session, campaign_id, frontend_of(caller), request.annotator, key_id=caller.key_id, now=now
        )
    )


def _entry_out(entry: Entry, pseudonyms: Pseudonyms) -> EntryOut:
    campaign, annotator = entry.campaign, entry.annotator
    sha256 = campaign.consent_sha256
    has_consented = annotator is not None and annotator.has_consented(campaign)
    return EntryOut(
        campaign_id=campaign.id,
        state=campaign.state,
        preview=annotator is None,
        annotator=None if annotator is None else annotator.external_id,
        pseudonym=None if annotator is None else pseudonyms.name_of(annotator.id, annotator.external_id),
        blocked=annotator is not None and annotator.blocked_at is not None,
        consent=None if sha256 is None or has_consented else ConsentTextOut(text=campaign.consent, sha256=sha256),
        training_required=not entry.is_trained,
        packages_left=campaign.packages_per_annotator if annotator is None else annotator.packages_left(campaign),
        completion=None if entry.completion is None else completion_out(entry.completion),
    )


def _consent_out(annotator: Annotator) -> ConsentOut:
    return ConsentOut(
        annotator=annotator.external_id,
        sha256=annotator.consent_sha256,
        consented_at=annotator.consented_at,
        withdrawn_at=annotator.consent_withdrawn_at,
    )
