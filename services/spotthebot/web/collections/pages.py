"""Collections: a form that opens chats; progress, rates and failures; the actions pause, resume and end."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID, uuid4

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import Invalid
from spotthebot.contracts.bots.registry import BotStatus
from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.conversations.collections import CollectionChangesIn, CollectionOut, CollectionState
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import Services
from spotthebot.web.collections.domain import COLLECTION_ACTIONS, collection_actions
from spotthebot.web.collections.errors import NoPriority
from spotthebot.web.collections.forms import EMPTY, NUMBERS, chats_of
from spotthebot.web.confirmations.errors import NoSuchAction
from spotthebot.web.confirmations.pages import Question, ask
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.layout.forms import key_of, read_document
from spotthebot.web.layout.pages import typed_in
from spotthebot.web.marks.pages import Marks, campaigns_over, marks_over

router = APIRouter(prefix="/admin/collections", route_class=PageRoute, include_in_schema=False)
_COLLECTIONS: Final = 25
_FAILURES: Final = 50
_PAIRS: Final = 100
_BOTS: Final = 1000


@router.get("")
async def list_collections(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, cursor: str | None = None
) -> Response:
    """Show the list of collections, newest first."""
    listed = (await services.conversations()).list_collections(
        order="newest_first", cursor=cursor, page_size=_COLLECTIONS
    )
    return pages.page(request, "collections/collections.html.jinja", page=await listed.page(), is_first=cursor is None)


@router.get("/chats")
async def show_chats_form(request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin) -> Response:
    """Show the form that opens a collection of chats."""
    return await _chats_form(request, pages, services, typed=EMPTY)


@router.post("/chats")
async def open_chats(request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin) -> Response:
    """Open a collection of chats, and show the page that makes links. If the form has faults, show it again."""
    typed = await typed_in(request)
    async with request.form() as form:
        bots = [each for each in form.getlist("bots") if isinstance(each, str)]
    read = chats_of(typed, bots)
    if not isinstance(read, HumanBotIn):
        return await _chats_form(request, pages, services, typed=typed, chosen=bots, faults=read)
    client = await services.conversations()
    try:
        made = await client.create_collection(read, idempotency_key=key_of(typed))
    except Invalid as error:
        faults = {"": error.problem.detail}
        return await _chats_form(request, pages, services, typed=typed, chosen=bots, faults=faults)
    return RedirectResponse(f"/chats/{made.id}/links", status_code=303)


async def _chats_form(  # what the form shows
    request: Request,
    pages: Pages,
    services: Services,
    *,
    typed: Mapping[str, str],
    chosen: Sequence[str] = (),
    faults: Mapping[str, str] | None = None,
) -> Response:
    bots = await (await services.bots()).list_bots(page_size=_BOTS).page()
    return pages.page(
        request,
        "collections/chats.html.jinja",
        status=422 if faults else 200,
        typed=typed,
        chosen=chosen,
        faults=faults or {},
        bots=[each for each in bots.items if each.status is not BotStatus.RETIRED],
        numbers=NUMBERS,
        once=uuid4().hex,
    )


@router.get("/{collection_id}")
async def show_collection(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, collection_id: UUID
) -> Response:
    """Show the progress of a collection. The page updates itself while the collection runs."""
    client = await services.conversations()
    collection, failures, pairs = await asyncio.gather(
        client.get_collection(collection_id),
        client.list_failures(collection_id, page_size=_FAILURES).page(),
        client.list_pairs(collection_id, page_size=_PAIRS).page(),
    )
    by_bot = (await client.list_chat_bots(collection_id)).bots if collection.mode == "human_bot" else ()
    return pages.page(
        request,
        "collections/collection.html.jinja",
        collection=collection,
        failures=failures.items,
        pairs=pairs.items,
        by_bot=by_bot,
        marks=await _marks(services, collection),
        occurring={state for pair in pairs.items for state in pair.conversations} | {"complete"},
        more_pairs=pairs.next_cursor is not None,
        actions=collection_actions(collection),
    )


@router.post("/{collection_id}/priority")
async def set_priority(request: Request, services: ServicesOfVisitor, _visitor: Admin, collection_id: UUID) -> Response:
    """Set the priority of a collection, which decides whether it runs before other collections."""
    read = read_document(CollectionChangesIn, await typed_in(request))
    if not isinstance(read, CollectionChangesIn):
        raise NoPriority(said=", ".join(read.values()))
    await (await services.conversations()).change_collection(collection_id, read)
    return RedirectResponse(f"/admin/collections/{collection_id}", status_code=303)


@router.get("/{collection_id}/{action}")
async def ask_before(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, collection_id: UUID, action: str
) -> Response:
    """Describe the effects of an action on the collection, and ask for a confirmation."""
    if action not in COLLECTION_ACTIONS:
        raise NoSuchAction
    collection = await (await services.conversations()).get_collection(collection_id)
    back = f"/admin/collections/{collection_id}"
    return ask(request, pages, Question(of="collection", action=action, name=collection.name, back=back))


@router.post("/{collection_id}/{action}")
async def do(
    request: Request, services: ServicesOfVisitor, _visitor: Admin, collection_id: UUID, action: str
) -> Response:
    """Carry out a confirmed action on the collection."""
    if action not in COLLECTION_ACTIONS:
        raise NoSuchAction
    await _ACTIONS[action](await services.conversations(), collection_id, key_of(await typed_in(request)))
    return RedirectResponse(f"/admin/collections/{collection_id}", status_code=303)


async def _marks(services: Services, collection: CollectionOut) -> Marks:
    """Return the marks of bots for a complete collection.

    A collection that still runs has no campaign and so no marks.
    """
    if collection.state is not CollectionState.COMPLETE:
        return Marks()
    return await marks_over(services, await campaigns_over(services, collection.id))


_ACTIONS: Final = {
    "pause": lambda client, collection_id, key: client.pause_collection(collection_id, idempotency_key=key),
    "resume": lambda client, collection_id, key: client.resume_collection(collection_id, idempotency_key=key),
    "cancel": lambda client, collection_id, key: client.cancel_collection(collection_id, idempotency_key=key),
    "finish": lambda client, collection_id, key: client.finish_collection(collection_id, idempotency_key=key),
}
