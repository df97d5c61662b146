"""`/v1/studies`: campaigns over the same dialogues, and the outcome that their measures are assessed against."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.annotation.deps import AdminReader, AdminsClaim, Reader
from spotthebot.annotation.resources import ServiceResources
from spotthebot.annotation.studies import store, use_cases
from spotthebot.annotation.studies.use_cases import check_chats, check_scores
from spotthebot.contracts.annotation.studies import StudyIn, StudyOut
from spotthebot.contracts.wire import Name
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Pool, Reading, Writing

router = APIRouter(prefix="/v1/studies", tags=["studies"], route_class=IdempotentRoute)


@router.post("", status_code=201, operation_id="create_study")
async def create_study(claim: AdminsClaim, resources: ServiceResources, request: StudyIn) -> StudyOut:
    """Create a study of existing campaigns.

    Each campaign that has packages must show a dialogue that another one shows. `chats` are collections of chats.
    `scores` are complete score sets of the service `fed`.
    """
    await check_chats(resources.conversations, request.chats)
    await check_scores(resources.fed, request.scores)
    return StudyOut.of(await use_cases.create_study(await claim.begin(), request))


@router.get("", operation_id="list_studies")
async def list_studies(
    session: Reading, _caller: Reader, paging: Paging, name: Annotated[Name | None, Query()] = None
) -> Page[StudyOut]:
    """List studies, oldest first."""
    rows = await store.list_studies(session, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda study: study.id, to_out=StudyOut.of)


@router.get("/{study_id}", operation_id="get_study")
async def get_study(session: Reading, _caller: Reader, study_id: UUID) -> StudyOut:
    """Return a study: its campaigns, its chats and its outcome. A deleted campaign has left it."""
    return StudyOut.of(await store.get_study(session, study_id))


@router.put("/{study_id}", operation_id="replace_study")
async def replace_study(
    _caller: AdminReader, database: Pool, resources: ServiceResources, study_id: UUID, request: StudyIn
) -> StudyOut:
    """Replace what a study says, for example to add a task while the other tasks run."""
    await check_chats(resources.conversations, request.chats)
    await check_scores(resources.fed, request.scores)
    async with database.write() as session:
        return StudyOut.of(await use_cases.replace_study(session, study_id, request))


@router.delete("/{study_id}", status_code=204, operation_id="delete_study")
async def delete_study(session: Writing, _caller: AdminReader, study_id: UUID) -> None:
    """Delete a study; its campaigns stay."""
    await use_cases.delete_study(session, study_id)
