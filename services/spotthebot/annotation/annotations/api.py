"""Annotations and packages of a campaign for analysis, as pages and as streams."""

from collections.abc import Callable, Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from spotthebot.annotation.annotations import store
from spotthebot.annotation.annotations.domain import StoredAnnotation
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.deps import AskedJudges, Reader
from spotthebot.annotation.packages import store as packages_store
from spotthebot.annotation.packages.domain.packages import Package, PackedConversation
from spotthebot.contracts.annotation.annotations import AnnotationOut, AnnotationsRevisionOut, SharedAnnotatorsOut
from spotthebot.contracts.annotation.packages import ConversationRef, PackageOut, SegmentRef
from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.core.streams import stream
from spotthebot.kit.web.database.sessions import Pool, Reading

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["annotations"], route_class=CheckedRoute)


@router.get("/annotations", operation_id="list_annotations")
async def list_annotations(
    session: Reading,
    _caller: Reader,
    campaign_id: UUID,
    paging: Paging,
    conversation_id: Annotated[
        UUID | None, Query(description="Those of one conversation; of pairs, on either side.")
    ] = None,
    judges: AskedJudges = (),
) -> Page[AnnotationOut]:
    """List annotations, oldest first; people appear under pseudonyms. Judges are left out unless named by `judges`."""
    to_out = await _annotation_out(session, campaign_id)
    rows = await store.list_annotations(
        session,
        campaign_id,
        conversation_id=conversation_id,
        judges=judges,
        after=paging.after,
        limit=paging.limit + 1,
    )
    return page_of(rows, paging, key=lambda row: row.id, to_out=to_out)


@router.get("/annotations/stream", operation_id="stream_annotations", response_class=StreamingResponse)
async def stream_annotations(
    session: Reading, _caller: Reader, database: Pool, campaign_id: UUID, judges: AskedJudges = ()
) -> StreamingResponse:
    """Return all annotations as NDJSON, one `AnnotationOut` per line; people appear under pseudonyms.

    Judges are left out unless named by `judges`.
    """
    to_out = await _annotation_out(session, campaign_id)

    async def fetch(reading: ReadSession, after: UUID | None, limit: int) -> list[StoredAnnotation]:
        return await store.list_annotations(reading, campaign_id, judges=judges, after=after, limit=limit)

    return stream(database, fetch, key=lambda row: row.id, to_out=to_out)


@router.get("/annotations/revision", operation_id="annotations_revision")
async def annotations_revision(
    session: Reading, _caller: Reader, campaign_id: UUID, judges: AskedJudges = ()
) -> AnnotationsRevisionOut:
    """Return a text that changes whenever an annotation is added or changed.

    Compare it before you read all annotations again. It is about judges only if `judges` names them.
    """
    await campaigns_store.get_campaign(session, campaign_id)
    return AnnotationsRevisionOut.of(await store.get_annotations_revision(session, campaign_id, judges=judges))


@router.get("/annotations/shared-annotators", operation_id="count_shared_annotators")
async def count_shared_annotators(
    session: Reading,
    _caller: Reader,
    campaign_id: UUID,
    others: Annotated[Sequence[UUID], Query(alias="with", max_length=100, description="The other campaigns.")] = (),
) -> SharedAnnotatorsOut:
    """Count the people who annotated in this campaign and in any of the others, where they have other pseudonyms.

    They are found by the id that one frontend gave them. Results of campaigns that share people vary together.
    """
    await campaigns_store.get_campaign(session, campaign_id)
    return SharedAnnotatorsOut(people=await store.count_shared_people(session, campaign_id, others))


@router.get("/packages", operation_id="list_packages")
async def list_packages(session: Reading, _caller: Reader, campaign_id: UUID, paging: Paging) -> Page[PackageOut]:
    """List packages with their segments, oldest first."""
    await campaigns_store.get_campaign(session, campaign_id)
    rows = await packages_store.list_packages(session, campaign_id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda row: row.id, to_out=_package_out)


async def _annotation_out(session: ReadSession, campaign_id: UUID) -> Callable[[StoredAnnotation], AnnotationOut]:
    """Return the function that converts a campaign's annotations to wire types.

    Annotators have pseudonyms in them, even if the caller is a service.
    """
    pseudonyms = await campaigns_store.get_pseudonyms(session, campaign_id)

    def to_out(stored: StoredAnnotation) -> AnnotationOut:
        name = pseudonyms.name_of(stored.annotator_id, stored.annotator_external_id, stored.annotator_kind)
        return AnnotationOut.of(stored, annotator=name)

    return to_out


def _package_out(package: Package) -> PackageOut:
    segments = [
        SegmentRef(
            conversation_id=each.shown.conversation_id,
            exchanges=each.shown.exchanges,
            text_hash=each.shown.text_hash and each.shown.text_hash.hex(),
            right=_conversation_ref(each.right),
        )
        for each in package.items
    ]
    return PackageOut(id=package.id, external_id=package.external_id, segments=tuple(segments))


def _conversation_ref(shown: PackedConversation | None) -> ConversationRef | None:
    return None if shown is None else ConversationRef(conversation_id=shown.conversation_id, exchanges=shown.exchanges)
