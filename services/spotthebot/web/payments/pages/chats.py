"""The payments of people who chat in a collection, and files for the people or panels who pay them."""

import asyncio
from typing import Final
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from spotthebot.contracts.terms import PaymentFile
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.payments.domain import chat_payroll_of
from spotthebot.web.payments.pages.sums import AT_ONCE, MOST, as_csv, first_of

router = APIRouter(prefix="/admin/collections/{collection_id}", route_class=PageRoute, include_in_schema=False)
_PEOPLE: Final = 50


@router.get("/payments")
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


@router.get("/payments/{kind}.csv")
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
