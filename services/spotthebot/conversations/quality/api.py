"""`/v1/collections/{id}/quality-flags` and `/quality`: the quality of conversations, measured on their texts."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.contracts.conversations.quality import (
    FlagKind,
    QualityCheckIn,
    QualityCheckOut,
    QualityFlagsOut,
    QualityOut,
)
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.deps import Admin, Reader
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.conversations.quality.store import flags as flags_store
from spotthebot.conversations.quality.store import summaries as summaries_store
from spotthebot.conversations.quality.use_cases.requests import request_check_against
from spotthebot.conversations.resources import ServiceResources
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/collections/{collection_id}", tags=["quality"], route_class=IdempotentRoute)


@router.post("/quality-flags", status_code=202, operation_id="flag_conversations")
async def flag_conversations(
    session: Writing, _caller: Admin, resources: ServiceResources, collection_id: UUID, request: QualityCheckIn
) -> QualityCheckOut:
    """Flag complete conversations in the background, and compare all complete conversations again.

    A finished collection is checked automatically. This request adds a comparison with a training split.
    """
    return QualityCheckOut.of(await request_check_against(session, resources.jobs, collection_id, request))


@router.get("/quality-flags", operation_id="list_quality_flags")
async def list_quality_flags(
    session: Reading,
    _caller: Reader,
    collection_id: UUID,
    paging: Paging,
    only: Annotated[FlagKind | None, Query(description="Only conversations with this flag.")] = None,
) -> Page[QualityFlagsOut]:
    """List the flags of a collection's conversations, in the order of its plan."""
    await collections_store.get_collection(session, collection_id)
    rows = await flags_store.list_flags(session, collection_id, only=only, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda flags: flags.conversation_id, to_out=QualityFlagsOut.of)


@router.get("/quality", operation_id="get_quality")
async def get_quality(session: Reading, _caller: Reader, collection_id: UUID) -> QualityOut:
    """Return the summary of a collection's quality, and the progress of its check."""
    await collections_store.get_collection(session, collection_id)
    check = await checks_store.get_check(session, collection_id)
    repeated = await summaries_store.list_repeated_texts(session, collection_id)
    return QualityOut.of(check, check=check, repeated_texts=repeated)
