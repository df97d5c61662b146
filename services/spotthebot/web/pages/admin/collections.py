"""Collections as they grow: progress, rates, failures, and how to pause, resume and end them."""

import asyncio
from typing import Final
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.contracts.conversations.collections import CollectionChangesIn, CollectionOut, CollectionState
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import Services
from spotthebot.web.domain.admin_actions import COLLECTION_ACTIONS, collection_actions
from spotthebot.web.domain.decisions import read_document
from spotthebot.web.domain.reading_errors import NoPriority, NoSuchAction
from spotthebot.web.pages.admin.confirmation import Question, ask
from spotthebot.web.pages.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.pages.forms import key_of, typed_in
from spotthebot.web.pages.marks import Marks, campaigns_over, marks_over

router = APIRouter(prefix="/admin/collections", route_class=PageRoute, include_in_schema=False)
_COLLECTIONS: Final = 25
_FAILURES: Final = 50
_PAIRS: Final = 100


@router.get("")
async def list_collections(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, cursor: str | None = None
) -> Response:
    """Show collections, the newest first."""
    listed = (await services.conversations()).list_collections(
        order="newest_first", cursor=cursor, page_size=_COLLECTIONS
    )
    return pages.page(request, "admin/collections.html.jinja", page=await listed.page(), is_first=cursor is None)


@router.get("/{collection_id}")
async def show_collection(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, collection_id: UUID
) -> Response:
    """Show how far a collection is; the page renews itself while it grows."""
    client = await services.conversations()
    collection, failures, pairs = await asyncio.gather(
        client.get_collection(collection_id),
        client.list_failures(collection_id, page_size=_FAILURES).page(),
        client.list_pairs(collection_id, page_size=_PAIRS).page(),
    )
    return pages.page(
        request,
        "admin/collection.html.jinja",
        collection=collection,
        failures=failures.items,
        pairs=pairs.items,
        marks=await _marks(services, collection),
        occurring={state for pair in pairs.items for state in pair.conversations} | {"complete"},
        more_pairs=pairs.next_cursor is not None,
        actions=collection_actions(collection),
    )


@router.post("/{collection_id}/priority")
async def set_priority(request: Request, services: ServicesOfVisitor, _visitor: Admin, collection_id: UUID) -> Response:
    """Let the collection go before others, or after them."""
    read = read_document(CollectionChangesIn, await typed_in(request))
    if not isinstance(read, CollectionChangesIn):
        raise NoPriority(said=", ".join(read.values()))
    await (await services.conversations()).change_collection(collection_id, read)
    return RedirectResponse(f"/admin/collections/{collection_id}", status_code=303)


@router.get("/{collection_id}/{action}")
async def ask_before(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, collection_id: UUID, action: str
) -> Response:
    """Say what would be done, and ask."""
    if action not in COLLECTION_ACTIONS:
        raise NoSuchAction
    collection = await (await services.conversations()).get_collection(collection_id)
    back = f"/admin/collections/{collection_id}"
    return ask(request, pages, Question(of="collection", action=action, name=collection.name, back=back))


@router.post("/{collection_id}/{action}")
async def do(
    request: Request, services: ServicesOfVisitor, _visitor: Admin, collection_id: UUID, action: str
) -> Response:
    """Do it."""
    if action not in COLLECTION_ACTIONS:
        raise NoSuchAction
    await _ACTIONS[action](await services.conversations(), collection_id, key_of(await typed_in(request)))
    return RedirectResponse(f"/admin/collections/{collection_id}", status_code=303)


async def _marks(services: Services, collection: CollectionOut) -> Marks:
    """Return what marks bots, once the collection is complete: before there is no campaign over it."""
    if collection.state is not CollectionState.COMPLETE:
        return Marks()
    return await marks_over(services, await campaigns_over(services, collection.id))


_ACTIONS: Final = {
    "pause": lambda client, collection_id, key: client.pause_collection(collection_id, idempotency_key=key),
    "resume": lambda client, collection_id, key: client.resume_collection(collection_id, idempotency_key=key),
    "cancel": lambda client, collection_id, key: client.cancel_collection(collection_id, idempotency_key=key),
    "finish": lambda client, collection_id, key: client.finish_collection(collection_id, idempotency_key=key),
}
