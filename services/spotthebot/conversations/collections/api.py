"""`/v1/collections`: read collections and their plans."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.contracts.conversations.chats import ChatSettings
from spotthebot.contracts.conversations.collections import CollectionOut, CollectionPlanOut
from spotthebot.contracts.wire import Name
from spotthebot.conversations.collections import store
from spotthebot.conversations.collections.domain import Collection, ExportSource
from spotthebot.conversations.deps import Reader
from spotthebot.kit.web.core.pagination import Order, Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading

router = APIRouter(prefix="/v1", tags=["collections"], route_class=IdempotentRoute)


@router.get("/collections", operation_id="list_collections")
async def list_collections(
    session: Reading,
    _caller: Reader,
    paging: Paging,
    name: Annotated[Name | None, Query()] = None,
    bot_id: Annotated[
        tuple[UUID, ...], Query(max_length=100, description="Those that one of these bots takes part in.")
    ] = (),
    order: Order = "oldest_first",
) -> Page[CollectionOut]:
    """List collections, oldest first unless asked otherwise."""
    rows = await store.list_collections(
        session,
        name=name,
        bots=bot_id,
        newest_first=order == "newest_first",
        after=paging.after,
        limit=paging.limit + 1,
    )
    return page_of(rows, paging, key=lambda collection: collection.id, to_out=collection_out)


@router.get("/collections/{collection_id}", operation_id="get_collection")
async def get_collection(session: Reading, _caller: Reader, collection_id: UUID) -> CollectionOut:
    """Return a collection and its progress."""
    return collection_out(await store.get_collection(session, collection_id))


@router.get("/collections/{collection_id}/plan", operation_id="get_plan")
async def get_plan(session: Reading, _caller: Reader, collection_id: UUID) -> CollectionPlanOut:
    """Return the plan of a collection's conversations: openings, human dialogues, exchanges, seed."""
    return plan_out(await store.get_source(session, collection_id))


def collection_out(collection: Collection) -> CollectionOut:
    """Return a collection with the time left at the rate of the last minute; None while it waits for a bot."""
    rate = collection.rate_turns_per_second
    left = collection.turns_planned - collection.turns
    return CollectionOut.of(
        collection,
        rate_turns_per_second=round(rate, 3) if rate else None,
        seconds_left=round(left / rate, 1) if rate and not collection.waiting else None,
    )


def plan_out(source: ExportSource) -> CollectionPlanOut:
    """Return the fields that the plans of all modes with talking bots share."""
    plan: dict[str, Any] = dict.fromkeys(CollectionPlanOut.model_fields) | {"bots": (), "versions": ()}
    plan |= {name: value for name, value in source.plan.items() if name in plan}
    plan |= {"mode": source.mode, "held_as": source.held_as}
    if source.mode == "human_bot":  # its `partners` are its bots' versions, its `opening` is no corpus
        settings = {name: source.plan[name] for name in ChatSettings.model_fields.keys() & source.plan.keys()}
        plan |= {"partners": None, "opening": None, "chats": settings}
    return CollectionPlanOut.model_validate(plan)
