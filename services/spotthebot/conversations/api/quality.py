"""`/v1/collections/{id}/marks` and `/quality`: what conversations are worth, as far as their texts tell."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.contracts.conversations import MarkingOut, MarkKind, MarkOut, MarksIn, QualityOut
from spotthebot.conversations import store
from spotthebot.conversations.api.deps import Admin, JobQueue, Reader
from spotthebot.conversations.use_cases.requesting_marks import request_marks_against
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/collections/{collection_id}", tags=["quality"], route_class=IdempotentRoute)


@router.post("/marks", status_code=202, operation_id="mark_conversations")
async def mark_conversations(
    session: Writing, _caller: Admin, jobs: JobQueue, collection_id: UUID, request: MarksIn
) -> MarkingOut:
    """Have the conversations that are complete marked, in the background; those that are marked are compared anew.

    A collection that finishes is marked by itself; this is for holding it against a training split.
    """
    return _to_out(await request_marks_against(session, jobs, collection_id, request))


@router.get("/marks", operation_id="list_marks")
async def list_marks(
    session: Reading,
    _caller: Reader,
    collection_id: UUID,
    paging: Paging,
    only: Annotated[MarkKind | None, Query(description="Only conversations that bear this mark.")] = None,
) -> Page[MarkOut]:
    """List what is noted of a collection's conversations, in the order of its plan."""
    await store.collections.get_collection(session, collection_id)
    rows = await store.marks.list_marks(session, collection_id, only=only, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda row: row["conversation_id"], to_out=MarkOut.model_validate)


@router.get("/quality", operation_id="get_quality")
async def get_quality(session: Reading, _caller: Reader, collection_id: UUID) -> QualityOut:
    """Return the account of a collection's quality, and how far its marking is."""
    await store.collections.get_collection(session, collection_id)
    marking = await store.markings.get(session, collection_id)
    return QualityOut(marking=_to_out(marking), account=marking.account)


def _to_out(marking: store.markings.Marking) -> MarkingOut:
    return MarkingOut(
        collection_id=marking.collection_id,
        state=marking.state,
        failure=marking.failure,
        training=marking.training,
        conversations=marking.conversations,
        marked=marking.marked,
        requested_at=marking.requested_at,
        marked_at=marking.marked_at,
    )
