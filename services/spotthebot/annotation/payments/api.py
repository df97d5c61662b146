"""Payments of annotators, bonuses, and files for panels."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.deps import Admin, AdminReader
from spotthebot.annotation.payments import store, use_cases
from spotthebot.annotation.payments.domain import Payment
from spotthebot.annotation.payments.use_cases import payment_file
from spotthebot.contracts.annotation.payments import BonusIn, BonusOut, PaymentOut
from spotthebot.contracts.terms import PaymentFile
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["payments"], route_class=IdempotentRoute)
_CSV = "text/csv"
_TEXT = {"type": "string"}


@router.post("/annotators/{annotator_id}/bonuses", status_code=201, operation_id="grant_bonus")
async def grant_bonus(
    session: Writing, caller: Admin, now: Now, campaign_id: UUID, annotator_id: UUID, request: BonusIn
) -> BonusOut:
    """Grant an annotator a bonus in the campaign's currency. With an `Idempotency-Key` a repeat grants nothing more."""
    bonus, currency = await use_cases.grant_bonus(
        session, campaign_id, annotator_id, request, key_id=caller.key_id, now=now
    )
    return BonusOut.of(bonus, currency=currency)


@router.get("/payments", operation_id="list_payments")
async def list_payments(session: Reading, _caller: AdminReader, campaign_id: UUID, paging: Paging) -> Page[PaymentOut]:
    """List payments of annotators who submitted a package or have a bonus."""
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    pay, currency = campaign.require_pay()
    rows = await store.list_payments(session, campaign, pay, after=paging.after, limit=paging.limit + 1)

    def payment_out(payment: Payment) -> PaymentOut:
        return PaymentOut.of(payment, currency=currency)

    return page_of(rows, paging, key=lambda payment: payment.annotator_id, to_out=payment_out)


@router.get(
    "/payments/file",
    operation_id="download_payments",
    response_class=Response,
    responses={200: {"description": "The file.", "content": {_CSV: {"schema": _TEXT}}}},
)
async def download_payments(
    session: Reading, _caller: AdminReader, campaign_id: UUID, kind: Annotated[PaymentFile, Query()]
) -> Response:
    """Return a file in the panel's format: ids to approve, amounts in addition to the reward, or all payments."""
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    content = await payment_file(session, campaign, kind)
    headers = {"Content-Disposition": f'attachment; filename="{kind.value}.csv"'}
    return Response(content, media_type=_CSV, headers=headers)
