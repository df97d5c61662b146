"""People who chat: their entry, consent and withdrawal, their payments, and their erasure."""

from collections.abc import Callable
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.chat_entries import (
    ChatConsentOut,
    ChatConsentWithdrawalIn,
    ChatLinkOut,
    ChatLinksOut,
    ChatPersonOut,
    ChatTermsOut,
    LinkRevocationIn,
    PersonsChatOut,
    RevokedLinkOut,
)
from spotthebot.contracts.terms import ConsentTextOut, PaymentFile, SubmittedTexts, consent_sha256_of
from spotthebot.contracts.wire import ExternalId
from spotthebot.conversations.chats.api.access import Chatting
from spotthebot.conversations.chats.domain.chats import allowance
from spotthebot.conversations.chats.domain.people import ChatPerson, pseudonym_of, require_kind
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import links as links_store
from spotthebot.conversations.chats.store import people as people_store
from spotthebot.conversations.chats.use_cases import withdraw
from spotthebot.conversations.chats.use_cases.payments import payment_file
from spotthebot.conversations.chats.use_cases.start import require_link
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.deps import Admin, AdminReader
from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1", tags=["chats"], route_class=IdempotentRoute)
_CSV = "text/csv"
_TEXT = {"type": "string"}
_MAX_LINKS = 1000


@router.get("/collections/{collection_id}/chat-people", operation_id="list_chat_people")
async def list_chat_people(
    session: Reading, _caller: AdminReader, collection_id: UUID, paging: Paging
) -> Page[ChatPersonOut]:
    """List the people who chat in a collection, or whose ratings were imported: their consent, work and pay."""
    to_out = await _people_of(session, collection_id)
    rows = await people_store.list_people(session, collection_id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda person: person.id, to_out=to_out)


@router.post("/collections/{collection_id}/chat-people/{person_id}/erase", operation_id="erase_chat_person")
async def erase_chat_person(
    session: Writing,
    caller: Admin,
    now: Now,
    collection_id: UUID,
    person_id: UUID,
    submitted_texts: Annotated[
        SubmittedTexts, Query(description="What becomes of what the person said in the chats.")
    ] = SubmittedTexts.ERASE,
) -> ChatPersonOut:
    """Erase a person from a collection of chats, imported or not; their ratings stay. An erasure can't be undone."""
    erased = await withdraw.erase_chat_person(
        session, collection_id, person_id, submitted_texts, key_id=caller.key_id, now=now
    )
    return (await _people_of(session, collection_id))(erased)


@router.get(
    "/collections/{collection_id}/chat-payments/file",
    operation_id="download_chat_payments",
    response_class=Response,
    responses={200: {"description": "The file.", "content": {_CSV: {"schema": _TEXT}}}},
)
async def download_chat_payments(
    session: Reading,
    _caller: AdminReader,
    collection_id: UUID,
    kind: Annotated[PaymentFile, Query()],
    *,
    first_is_reward: Annotated[
        bool, Query(description="Whether the panel pays each person's first rated chat itself, as its reward.")
    ] = False,
) -> Response:
    """Return a file by which people who chat are paid: ids to approve, amounts beside the reward, or all payments."""
    collection = await chats_store.get_chat_collection(session, collection_id)
    content = await payment_file(session, collection, kind, first_is_reward=first_is_reward)
    headers = {"Content-Disposition": f'attachment; filename="{kind.value}.csv"'}
    return Response(content, media_type=_CSV, headers=headers)


async def _people_of(session: ReadSession, collection_id: UUID) -> Callable[[ChatPerson], ChatPersonOut]:
    """Return the function that makes the answer about a person of a collection."""
    plan = await chats_store.find_plan(session, collection_id)
    key = (await collections_store.get_source(session, collection_id)).pseudonym_key

    def to_out(person: ChatPerson) -> ChatPersonOut:
        return ChatPersonOut.of(
            person,
            person=person.interactor,
            interactor=pseudonym_of(person.interactor, person.kind, key),
            pay=None if plan is None else plan.pay_for(person.chats_rated),
            currency=None if plan is None else plan.currency,
        )

    return to_out


@router.get("/chats", operation_id="list_persons_chats")
async def list_persons_chats(
    session: Reading,
    _caller: Chatting,
    paging: Paging,
    collection_id: Annotated[UUID, Query(description="The collection in which the person chats.")],
    interactor: Annotated[ExternalId, Query(description="What the frontend calls the person.")],
    link: Annotated[
        ExternalId | None, Query(description="The link by which the person comes; refused if it was revoked.")
    ] = None,
) -> Page[PersonsChatOut]:
    """List a person's chats in a collection, oldest first. Call it when a person arrives, to continue an open chat."""
    await chats_store.get_chat_collection(session, collection_id)
    await require_link(session, collection_id, link)
    if link is not None:
        known = await people_store.find_kind(session, collection_id, interactor)
        require_kind(interactor, AnnotatorKind.PERSON, known=known)
    theirs = await chats_store.list_chats_of(session, collection_id, interactor)
    rows = [chat for chat in theirs if paging.after is None or chat.id > paging.after]
    return page_of(
        rows,
        paging,
        key=lambda chat: chat.id,
        to_out=PersonsChatOut.of,
    )


@router.get("/collections/{collection_id}/chat-terms", operation_id="get_chat_terms")
async def get_chat_terms(
    session: Reading,
    _caller: Chatting,
    collection_id: UUID,
    interactor: Annotated[ExternalId, Query(description="What the frontend calls the person.")],
) -> ChatTermsOut:
    """Return what a person learns before they begin a chat, and how many chats they may still begin."""
    plan = (await chats_store.get_chat_collection(session, collection_id)).plan
    sha256 = consent_sha256_of(plan.consent)
    has_consented = sha256 == await people_store.find_consent(session, collection_id, interactor)
    allowed = allowance(plan, await chats_store.list_chats_of(session, collection_id, interactor))
    return ChatTermsOut(
        partners=plan.bots_per_chat,
        minimum_turns=plan.minimum_turns,
        instructions=plan.instructions,
        consent=None if sha256 is None or has_consented else ConsentTextOut(text=plan.consent, sha256=sha256),
        pay_per_chat=plan.pay_per_chat,
        currency=plan.currency,
        conversations_per_person=plan.conversations_per_person,
        conversations_started=allowed.started,
        chats_left=allowed.chats_left,
    )


@router.post("/collections/{collection_id}/consents/withdraw", operation_id="withdraw_chat_consent")
async def withdraw_chat_consent(
    session: Writing, caller: Chatting, now: Now, collection_id: UUID, request: ChatConsentWithdrawalIn
) -> ChatConsentOut:
    """Withdraw a person's consent. The chat that they have not finished is abandoned; rated chats stay."""
    person = await withdraw.withdraw_consent(session, collection_id, request.interactor, key_id=caller.key_id, now=now)
    return ChatConsentOut(
        interactor=person.interactor,
        sha256=person.consent_sha256,
        consented_at=person.consented_at,
        withdrawn_at=person.consent_withdrawn_at,
    )


@router.post("/collections/{collection_id}/revoked-links", status_code=201, operation_id="revoke_chat_link")
async def revoke_chat_link(
    session: Writing, _caller: Admin, collection_id: UUID, request: LinkRevocationIn
) -> RevokedLinkOut:
    """Revoke a link, so that nobody can enter by it; running chats continue. Revoking again changes nothing."""
    await chats_store.get_chat_collection(session, collection_id)
    revoked_at = await links_store.revoke_link(session, collection_id, request.link)
    return RevokedLinkOut(link=request.link, revoked_at=revoked_at)


@router.get("/collections/{collection_id}/chat-links", operation_id="list_chat_links")
async def list_chat_links(session: Reading, _caller: AdminReader, collection_id: UUID) -> ChatLinksOut:
    """Return the links that were used or revoked, with the number of people who entered by each link."""
    await chats_store.get_chat_collection(session, collection_id)
    found = await links_store.list_links(session, collection_id, limit=_MAX_LINKS)
    return ChatLinksOut(links=tuple(ChatLinkOut.of(each) for each in found))
