"""Collections: forms that open chats and import tables; progress and failures; the actions pause, resume and end."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final
from urllib.parse import urlencode
from uuid import UUID, uuid4

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import AsyncConversations, Invalid
from spotthebot.clients.import_collections import add_conversations, find_or_create, in_batches
from spotthebot.contracts.bots.registry import BotStatus
from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.conversations.collections import CollectionChangesIn, CollectionOut, CollectionState
from spotthebot.kit.errors import Invalid as Unreadable
from spotthebot.kit.web.core.bodies import large_batch
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.readers.tables import Reading
from spotthebot.web.clients import Services
from spotthebot.web.collections.domain import (
    COLLECTION_ACTIONS,
    TABLE_ENDINGS,
    CheckedTable,
    check_table,
    collection_actions,
)
from spotthebot.web.collections.errors import NotChanged
from spotthebot.web.collections.forms import EMPTY, NUMBERS, chats_of, reading_of
from spotthebot.web.confirmations.errors import NoSuchAction
from spotthebot.web.confirmations.pages import Question, ask
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.layout.forms import key_of, read_document
from spotthebot.web.layout.pages import typed_in
from spotthebot.web.marks.pages import Marks, campaigns_over, marks_over
from spotthebot.web.rendering import Renderer
from spotthebot.web.resources import resources_of

router = APIRouter(prefix="/admin/collections", route_class=PageRoute, include_in_schema=False)
_COLLECTIONS: Final = 25
_FAILURES: Final = 50
_PAIRS: Final = 100
_BOTS: Final = 1000
_REJECTED: Final = 20
_TURNS: Final = 20
_TABLE_BYTES: Final = 4 * 1024 * 1024
_TABLE: Final = large_batch(max_bytes=_TABLE_BYTES + 64 * 1024, max_values=0)
"""The limit on a table, plus the size of the form around it. The form has no JSON."""


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
        of="chats",
        typed=typed,
        chosen=chosen,
        faults=faults or {},
        bots=[each for each in bots.items if each.status is not BotStatus.RETIRED],
        numbers=NUMBERS,
        once=uuid4().hex,
    )


@router.get("/table")
async def show_table_form(request: Request, pages: Pages, _visitor: Admin) -> Response:
    """Show the form that imports a table of conversations."""
    return _table_form(request, pages, {"domain": "imported"})


@router.post("/table", openapi_extra=_TABLE)
async def check_or_import_table(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin
) -> Response:
    """Show how a table is read and store nothing; or store its conversations, and show their collection."""
    async with request.form() as form:
        file = form.get("file")
        content, filename = (await file.read(), file.filename) if isinstance(file, UploadFile) else (b"", "")
        typed = {name: value for name, value in form.items() if isinstance(value, str)}
    reading = reading_of(typed)
    if not isinstance(reading, Reading):
        return _table_form(request, pages, typed, faults=reading)
    try:
        async with resources_of(request).table_reading:
            checked = await asyncio.to_thread(check_table, content, filename or "", reading)
        if typed.get("do") != "import" or not checked.can_be_imported:
            return _table_form(request, pages, typed, checked=checked)
        address = await _store_table(await services.conversations(), checked, reading)
    except (Unreadable, Invalid) as error:
        detail = error.problem.detail if isinstance(error, Invalid) else error.detail
        return _table_form(request, pages, typed, faults={"": detail})
    return RedirectResponse(address, status_code=303)


async def _store_table(client: AsyncConversations, checked: CheckedTable, reading: Reading) -> str:
    """Store the conversations of a table in the import collection of its name, and return the address to show."""
    collection = await find_or_create(client, reading.collection, reading.domain)
    counts = Counter(rejected=checked.rejected_rows)
    if checked.chats:
        done = await client.upload_export(
            collection.id, (f"{each.model_dump_json()}\n".encode() for each in checked.chats)
        )
        counts.update(stored=done.stored, already_there=done.already_there, rejected=done.rejected.count)
    else:
        add = partial(add_conversations, client, collection.id)
        async for answer in in_batches(checked.conversations, add):
            counts.update(stored=answer.stored, already_there=answer.already_there)
    return f"/admin/collections/{collection.id}?{urlencode(counts)}"


def _table_form(
    request: Request,
    pages: Renderer,
    typed: Mapping[str, str],
    *,
    faults: Mapping[str, str] | None = None,
    checked: CheckedTable | None = None,
) -> Response:
    return pages.page(
        request,
        "collections/table.html.jinja",
        status=422 if faults or (checked is not None and not checked.can_be_imported) else 200,
        of="table",
        typed=typed,
        faults=faults or {},
        checked=checked,
        numbers=(),
        endings=TABLE_ENDINGS,
        max_bytes=_TABLE_BYTES,
        rejected_shown=_REJECTED,
        turns_shown=_TURNS,
    )


@router.get("/{collection_id}")
async def show_collection(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    collection_id: UUID,
    stored: int | None = None,
    already_there: int = 0,
    rejected: int = 0,
) -> Response:
    """Show the progress of a collection. The page updates itself while the collection runs.

    After an import, the address has the numbers of conversations `stored` and `already_there`, and of rejected rows.
    """
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
        imported=None if stored is None else {"stored": stored, "already_there": already_there, "rejected": rejected},
        failures=failures.items,
        pairs=pairs.items,
        by_bot=by_bot,
        marks=await _marks(services, collection),
        occurring={state for pair in pairs.items for state in pair.conversations} | {"complete"},
        more_pairs=pairs.next_cursor is not None,
        actions=collection_actions(collection),
    )


@router.post("/{collection_id}/changes")
async def change_collection(
    request: Request, services: ServicesOfVisitor, _visitor: Admin, collection_id: UUID
) -> Response:
    """Change the name of a collection, and its priority, which decides whether it runs before other collections."""
    read = read_document(CollectionChangesIn, await typed_in(request))
    if not isinstance(read, CollectionChangesIn):
        raise NotChanged(said=", ".join(f"{field} {reason}" for field, reason in read.items()))
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
