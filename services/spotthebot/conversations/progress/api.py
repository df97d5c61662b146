"""`/v1/collections/{id}/...`: the progress of a collection by pair, its failures, and its progress as a stream."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent

from spotthebot.contracts.conversations.progress import FailureOut, PairOut
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.api import collection_out
from spotthebot.conversations.collections.domain import ENDED
from spotthebot.conversations.deps import Reader
from spotthebot.conversations.progress import store
from spotthebot.conversations.progress.domain import FailureReason
from spotthebot.conversations.resources import ServiceResources
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Pool, Reading

router = APIRouter(prefix="/v1/collections/{collection_id}", tags=["collections"], route_class=CheckedRoute)

_POLL_SECONDS = 1.0


@router.get("/pairs", operation_id="list_pairs")
async def list_pairs(session: Reading, _caller: Reader, collection_id: UUID, paging: Paging) -> Page[PairOut]:
    """List the pairs of the plan in order, with the number of conversations by state."""
    await collections_store.get_collection(session, collection_id)
    after = paging.after_number
    rows = await store.list_pairs(session, collection_id, after=-1 if after is None else after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda pair: UUID(int=pair.number), to_out=PairOut.of)


@router.get("/failures", operation_id="list_failures")
async def list_failures(
    session: Reading, _caller: Reader, resources: ServiceResources, collection_id: UUID, paging: Paging
) -> Page[FailureOut]:
    """List the reasons why conversations failed, or wait for an unavailable or paused bot, the most frequent first."""
    await collections_store.get_collection(session, collection_id)
    after = paging.after_number or 0
    rows = await store.list_failures(session, collection_id, offset=after, limit=paging.limit + 1)
    numbered = list(enumerate(rows, start=after + 1))
    return page_of(
        numbered,
        paging,
        key=lambda pair: UUID(int=pair[0]),
        to_out=lambda pair: failure_out(pair[1], resources.settings.bot_patience_seconds),
    )


async def _known(session: Reading, _caller: Reader, collection_id: UUID) -> UUID:
    await collections_store.get_collection(session, collection_id)
    return collection_id


@router.get("/events", operation_id="watch_collection", response_class=EventSourceResponse)
async def watch_collection(
    collection_id: Annotated[UUID, Depends(_known)], database: Pool
) -> AsyncIterator[ServerSentEvent]:
    """Stream a `CollectionOut` as event `progress` whenever it changes, and finally as event `finished`.

    Every event holds the whole state, so a disconnected reader only has to reconnect.
    """
    last = None
    while True:
        async with database.read() as session:
            now = collection_out(await collections_store.get_collection(session, collection_id))
        ended = now.state in ENDED
        if now != last:
            yield ServerSentEvent(data=now, event="finished" if ended else "progress")
            last = now
        if ended:
            return
        await asyncio.sleep(_POLL_SECONDS)


def failure_out(failure: FailureReason, patience_seconds: float) -> FailureOut:
    """Convert a reason of failures to its wire type; for waiting conversations, it has the time at which they fail."""
    until = failure.until if failure.since is None else failure.since + timedelta(seconds=patience_seconds)
    return FailureOut.of(failure, until=until)
