"""Payments of annotators and of people who chat, and files for the people or panels who pay them."""

import asyncio
from collections.abc import AsyncIterable
from typing import Annotated, Final, TypeVar
from uuid import UUID, uuid4

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import Conflict
from spotthebot.contracts.annotation.assignments import AnnotatorOut
from spotthebot.contracts.annotation.campaigns import ENDED, CampaignOut
from spotthebot.contracts.annotation.payments import BonusIn
from spotthebot.contracts.annotation.protocols import GAME
from spotthebot.contracts.terms import PaymentFile
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import Services
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.payments.domain import chat_payroll_of, payroll_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_PAYMENTS: Final = 50
AT_ONCE: Final = 1000
MOST: Final = 10_000
"""The maximum number of people in the sums of a page. The file has all people."""
_Item = TypeVar("_Item")
_PEOPLE: Final = 50


@router.get("/admin/campaigns/{campaign_id}/payments")
async def show_payments(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    cursor: str | None = None,
) -> Response:
    """Show the payment of each annotator, the sums, and the files for the people who pay."""
    client = await services.annotation()
    campaign = await client.get_campaign(campaign_id)
    winners = await _winners(services, campaign)
    page, payments = await asyncio.gather(
        client.list_payments(campaign_id, cursor=cursor, page_size=_PAYMENTS).page(),
        first_of(client.list_payments(campaign_id, page_size=AT_ONCE)),
    )
    return pages.page(
        request,
        "payments/payments.html.jinja",
        campaign=campaign,
        page=page,
        is_first=cursor is None,
        payroll=payroll_of(payments),
        is_whole=len(payments) < MOST,
        files=[*PaymentFile],
        winners=winners,
    )


@router.post("/admin/campaigns/{campaign_id}/payments/winner")
async def pay_winner(
    services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, bonus: Annotated[BonusIn, Form()]
) -> Response:
    """Pay the winner of a game a bonus. However often it is sent, each winner gets it once."""
    client = await services.annotation()
    once = bonus.model_copy(update={"occasion": "winner"})
    for each in await _winners(services, await client.get_campaign(campaign_id)):
        await client.grant_bonus(campaign_id, each.id, once, idempotency_key=uuid4().hex)
    return RedirectResponse(f"/admin/campaigns/{campaign_id}/payments", status_code=303)


async def _winners(services: Services, campaign: CampaignOut) -> list[AnnotatorOut]:
    """Return who has the most points in a game that has ended and is paid; several if their points are equal."""
    if campaign.protocol != GAME or campaign.state not in ENDED or not campaign.currency:
        return []
    try:
        board = await (await services.analytics()).leaderboard(campaign.id, page_size=AT_ONCE).page()
    except Conflict:  # people alone, or bots alone, give no points
        return []
    best = {each.annotator for each in board.items if each.rank == 1}
    client = await services.annotation()
    return [each async for each in client.list_annotators(campaign.id, page_size=AT_ONCE) if each.pseudonym in best]


@router.get("/admin/campaigns/{campaign_id}/payments/{kind}.csv")
async def download_payments(
    services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, kind: PaymentFile
) -> Response:
    """Send a file with payments, for the people or panels who pay."""
    content = await (await services.annotation()).download_payments(campaign_id, kind)
    return as_csv(kind, content)


async def first_of(listed: AsyncIterable[_Item]) -> list[_Item]:
    """Return the first items of a list, `MOST` at most."""
    found: list[_Item] = []
    async for each in listed:
        found.append(each)
        if len(found) == MOST:
            break
    return found


def as_csv(kind: PaymentFile, content: str) -> Response:
    """Return a payment file as an answer that no cache keeps."""
    headers = {"Content-Disposition": f'attachment; filename="{kind.value}.csv"', "Cache-Control": "no-store"}
    return Response(content, media_type="text/csv", headers=headers)


@router.get("/admin/collections/{collection_id}/payments")
async def show_chat_payments(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    collection_id: UUID,
    cursor: str | None = None,
) -> Response:
    """Show the payment of each person who chats, the sums, and the files for the people who pay."""
    client = await services.conversations()
    collection, page, people = await asyncio.gather(
        client.get_collection(collection_id),
        client.list_chat_people(collection_id, cursor=cursor, page_size=_PEOPLE).page(),
        first_of(client.list_chat_people(collection_id, page_size=AT_ONCE)),
    )
    return pages.page(
        request,
        "payments/chat_payments.html.jinja",
        collection=collection,
        currency=people[0].currency if people else None,
        page=page,
        is_first=cursor is None,
        payroll=chat_payroll_of(people),
        is_whole=len(people) < MOST,
    )


@router.get("/admin/collections/{collection_id}/payments/{kind}.csv")
async def download_chat_payments(
    services: ServicesOfVisitor,
    _visitor: Admin,
    collection_id: UUID,
    kind: PaymentFile,
    *,
    first_is_reward: bool = False,
) -> Response:
    """Send a file with payments, for the people or panels who pay."""
    client = await services.conversations()
    return as_csv(kind, await client.download_chat_payments(collection_id, kind, first_is_reward=first_is_reward))
