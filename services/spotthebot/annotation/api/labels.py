"""What was said, for analysis: annotations and packages of a campaign, as pages and as streams."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends
from starlette.responses import StreamingResponse

from spotthebot.annotation import store, store_judging
from spotthebot.annotation.api.deps import Reader
from spotthebot.contracts.annotation import AnnotationOut, AnnotationsRevisionOut, PackageOut
from spotthebot.kit.database import Database, ReadSession
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.streams import stream
from spotthebot.kit.web.database.sessions import Reading, get_database

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["labels"])

Pool = Annotated[Database, Depends(get_database)]


@router.get("/annotations", operation_id="list_annotations")
async def list_annotations(session: Reading, _caller: Reader, campaign_id: UUID, paging: Paging) -> Page[AnnotationOut]:
    """List annotations, oldest first."""
    await store.get_campaign(session, campaign_id)
    rows = await store_judging.list_annotations(session, campaign_id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda row: row.id, to_out=lambda row: row)


@router.get("/annotations/stream", operation_id="stream_annotations", response_class=StreamingResponse)
async def stream_annotations(session: Reading, _caller: Reader, database: Pool, campaign_id: UUID) -> StreamingResponse:
    """Return all annotations as NDJSON, one `AnnotationOut` a line."""
    await store.get_campaign(session, campaign_id)

    async def fetch(reading: ReadSession, after: UUID | None, limit: int) -> list[AnnotationOut]:
        return await store_judging.list_annotations(reading, campaign_id, after=after, limit=limit)

    return stream(database, fetch, key=lambda row: row.id, to_out=lambda row: row)


@router.get("/annotations/revision", operation_id="annotations_revision")
async def annotations_revision(session: Reading, _caller: Reader, campaign_id: UUID) -> AnnotationsRevisionOut:
    """Return what changes whenever an annotation is added or judged again: ask before you read them all once more."""
    await store.get_campaign(session, campaign_id)
    return await store_judging.annotations_revision(session, campaign_id)


@router.get("/packages", operation_id="list_packages")
async def list_packages(session: Reading, _caller: Reader, campaign_id: UUID, paging: Paging) -> Page[PackageOut]:
    """List packages with what they hold, oldest first."""
    await store.get_campaign(session, campaign_id)
    rows = await store.list_packages(session, campaign_id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda row: row.id, to_out=lambda row: row)
