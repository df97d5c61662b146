"""Entry links, the entries of people whom panels send, and their consent."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.annotation.annotators.domain import Annotator
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Pseudonyms
from spotthebot.annotation.deps import AdminReader, Frontend, LinkMaker, LinkRevoker, Reader
from spotthebot.annotation.entries import use_cases
from spotthebot.annotation.entries.use_cases import Entry, create_link, enter, revoke_link
from spotthebot.annotation.entry_links import store as entry_links_store
from spotthebot.annotation.entry_links.api import completion_out
from spotthebot.annotation.entry_links.domain.entry_links import LinkState, Worker
from spotthebot.annotation.resources import ServiceResources
from spotthebot.contracts.access import Role
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.entries import (
    AnnotatorWorkforceOut,
    ConsentIn,
    ConsentOut,
    ConsentWithdrawalIn,
    EntryIn,
    EntryLinkIn,
    EntryLinkOut,
    EntryLinkStateOut,
    EntryOut,
)
from spotthebot.contracts.terms import ConsentTextOut
from spotthebot.kit.web.core.pagination import Order, Page, Paging, page_of
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1", tags=["entries"], route_class=IdempotentRoute)


@router.post("/campaigns/{campaign_id}/entry-links", status_code=201, operation_id="create_entry_link")
async def create_entry_link(
    session: Writing, caller: LinkMaker, now: Now, campaign_id: UUID, request: EntryLinkIn
) -> EntryLinkOut:
    """Make a signed link into a campaign. A link made by a frontend works only in that frontend."""
    frontend = caller.owner if caller.role == Role.ANNOTATION else None
    made = await create_link(session, campaign_id, frontend, request, now=now)
    return EntryLinkOut.of(made.link, query=made.query, signing_key=made.signing_key)


@router.get("/campaigns/{campaign_id}/entry-links", operation_id="list_entry_links")
async def list_entry_links(
    session: Reading, _caller: AdminReader, campaign_id: UUID, paging: Paging, order: Order = "oldest_first"
) -> Page[EntryLinkStateOut]:
    """List the links into a campaign, each with the number of people who entered by it; oldest first by default."""
    await campaigns_store.get_campaign(session, campaign_id)
    rows = await entry_links_store.list_links(
        session, campaign_id, newest_first=order == "newest_first", after=paging.after, limit=paging.limit + 1
    )
    return page_of(rows, paging, key=lambda row: row.link.id, to_out=_link_out)


@router.get("/campaigns/{campaign_id}/workforces", operation_id="list_workforces")
async def list_workforces(
    session: Reading, _caller: Reader, campaign_id: UUID, paging: Paging
) -> Page[AnnotatorWorkforceOut]:
    """List the annotators of a campaign by their pseudonyms, each with their frontend and shared link."""
    pseudonyms = await campaigns_store.get_pseudonyms(session, campaign_id)
    rows = await entry_links_store.list_workers(session, campaign_id, after=paging.after, limit=paging.limit + 1)

    def to_out(worker: Worker) -> AnnotatorWorkforceOut:
        name = pseudonyms.name_of(worker.id, worker.external_id, worker.kind)
        return AnnotatorWorkforceOut.of(worker, annotator=name)

    return page_of(rows, paging, key=lambda worker: worker.id, to_out=to_out)


@router.delete("/campaigns/{campaign_id}/entry-links/{link_id}", status_code=204, operation_id="revoke_entry_link")
async def revoke_entry_link(session: Writing, caller: LinkRevoker, now: Now, campaign_id: UUID, link_id: UUID) -> None:
    """Revoke a link: nobody can enter by it any more, and people who entered by it can't claim.

    A repeat changes nothing. Packages that these people hold go to other annotators if they have no answers yet;
    packages with answers can still be submitted.
    """
    frontend = caller.owner if caller.role == Role.ANNOTATION else None
    await revoke_link(session, campaign_id, link_id, frontend, key_id=caller.key_id, now=now)


@router.post("/entries", operation_id="enter_campaign")
async def enter_campaign(
    session: Writing, caller: Frontend, now: Now, resources: ServiceResources, request: EntryIn
) -> EntryOut:
    """Identify a person by the URL's query parameters, and return the campaign and the next step.

    Call it at each visit.
    """

    def admit(link_id: UUID) -> None:
        resources.new_people.admit(str(link_id), request.address)

    entry = await enter(session, caller.owner, request.parameters, now=now, admit=admit)
    return _entry_out(entry, await campaigns_store.get_pseudonyms(session, entry.campaign.id))


@router.post("/campaigns/{campaign_id}/consents", operation_id="give_consent")
async def give_consent(
    session: Writing, caller: Frontend, now: Now, campaign_id: UUID, request: ConsentIn
) -> ConsentOut:
    """Store an annotator's consent to the campaign's text; a repeat changes nothing."""
    return _consent_out(
        await use_cases.give_consent(session, campaign_id, caller.owner, request, key_id=caller.key_id, now=now)
    )


@router.post("/campaigns/{campaign_id}/consents/withdraw", operation_id="withdraw_consent")
async def withdraw_consent(
    session: Writing, caller: Frontend, now: Now, campaign_id: UUID, request: ConsentWithdrawalIn
) -> ConsentOut:
    """Withdraw an annotator's consent. The package that they hold goes to other annotators; submitted packages stay."""
    return _consent_out(
        await use_cases.withdraw_consent(
            session, campaign_id, caller.owner, request.annotator, key_id=caller.key_id, now=now
        )
    )


def _entry_out(entry: Entry, pseudonyms: Pseudonyms) -> EntryOut:
    campaign, annotator = entry.campaign, entry.annotator
    sha256 = campaign.consent_sha256
    has_consented = annotator is not None and annotator.has_consented(campaign)
    kind = AnnotatorKind.PERSON
    return EntryOut(
        campaign_id=campaign.id,
        link_id=entry.link.id,
        state=campaign.state,
        preview=annotator is None,
        annotator=None if annotator is None else annotator.external_id,
        pseudonym=None if annotator is None else pseudonyms.name_of(annotator.id, annotator.external_id, kind),
        blocked=annotator is not None and annotator.blocked_at is not None,
        consent=None if sha256 is None or has_consented else ConsentTextOut(text=campaign.consent, sha256=sha256),
        training_required=not entry.is_trained,
        packages_left=campaign.packages_per_annotator if annotator is None else annotator.packages_left(campaign),
        completion=None if entry.completion is None else completion_out(entry.completion),
    )


def _link_out(state: LinkState) -> EntryLinkStateOut:
    return EntryLinkStateOut.of(state.link, annotators=state.annotators, created_at=state.created_at)


def _consent_out(annotator: Annotator) -> ConsentOut:
    return ConsentOut(
        annotator=annotator.external_id,
        sha256=annotator.consent_sha256,
        consented_at=annotator.consented_at,
        withdrawn_at=annotator.consent_withdrawn_at,
    )
