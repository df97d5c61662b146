"""`/v1/judges`: programs whose labels are meant to be used, in versions that never change."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from spotthebot.annotation.deps import Admin, CampaignReader
from spotthebot.annotation.judges import store
from spotthebot.contracts.annotation.judges import JudgeIn, JudgeName, JudgeVersionNumber, JudgeVersionOut
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/judges", tags=["judges"], route_class=IdempotentRoute)


@router.post("", status_code=201, operation_id="create_judge")
async def create_judge(session: Writing, _caller: Admin, request: JudgeIn) -> JudgeVersionOut:
    """Store the next version of a judge. The same settings are the same version, which never changes."""
    return JudgeVersionOut.of(await store.add_judge(session, request))


@router.get("", operation_id="list_judges")
async def list_judges(
    session: Reading, _caller: CampaignReader, paging: Paging, name: Annotated[JudgeName | None, Query()] = None
) -> Page[JudgeVersionOut]:
    """List versions of judges, oldest first."""
    rows = await store.list_judges(session, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda each: each.id, to_out=JudgeVersionOut.of)


@router.get("/{name}/versions/{version}", operation_id="get_judge")
async def get_judge(
    session: Reading,
    _caller: CampaignReader,
    name: Annotated[JudgeName, Path()],
    version: Annotated[JudgeVersionNumber, Path()],
) -> JudgeVersionOut:
    """Return one version of a judge; it never changes."""
    return JudgeVersionOut.of(await store.get_judge(session, name, version))
