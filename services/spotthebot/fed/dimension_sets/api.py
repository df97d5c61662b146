"""`/v1/dimension-sets`: the rated dimensions and their follow-ups. Versions never change."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from spotthebot.contracts.fed.dimensions import DimensionIn, DimensionSetIn, DimensionSetOut
from spotthebot.contracts.fed.scorers import DimensionSetRef
from spotthebot.fed.deps import Creator, Reader
from spotthebot.fed.dimension_sets import store as dimension_sets_store
from spotthebot.fed.dimension_sets.domain.dimension_sets import BUILT_IN, DimensionSetVersion
from spotthebot.fed.dimension_sets.use_cases import add_dimension_set, get_dimension_set
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/dimension-sets", tags=["dimension sets"], route_class=IdempotentRoute)

Name = Annotated[str, Query(max_length=100)]


@router.post("", status_code=201, operation_id="create_dimension_set")
async def create_dimension_set(session: Writing, _caller: Creator, request: DimensionSetIn) -> DimensionSetOut:
    """Store dimensions under a name. If they differ from the name's latest version, they become its next version."""
    return _to_out(await add_dimension_set(session, request))


@router.get("", operation_id="list_dimension_sets")
async def list_dimension_sets(
    session: Reading, _caller: Reader, paging: Paging, name: Name | None = None
) -> Page[DimensionSetOut]:
    """List versions of users' sets, oldest first.

    The built-in sets are `fed`, `fed-turn`, `fed-dialogue` and `bipartite`.
    """
    rows = await dimension_sets_store.list_versions(session, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda row: row[0], to_out=lambda row: _to_out(row[1]))


@router.get("/{name}/versions/{version}", operation_id="get_dimension_set")
async def get_version(
    session: Reading,
    _caller: Reader,
    name: Annotated[str, Path(min_length=1, max_length=100)],
    version: Annotated[int, Path(ge=1, lt=2**31)],
) -> DimensionSetOut:
    """Return a version of a dimension set with its follow-ups, built in or a user's."""
    return _to_out(await get_dimension_set(session, DimensionSetRef(set=name, version=version)))


def _to_out(found: DimensionSetVersion) -> DimensionSetOut:
    dimensions = found.dimensions
    return DimensionSetOut(
        name=dimensions.name,
        version=found.version,
        origin="built_in" if dimensions.name in BUILT_IN else "user",
        written_by=dimensions.origin,
        dimensions=tuple(
            DimensionIn(name=each.name, positive=each.positive, negative=each.negative)
            for each in dimensions.dimensions
        ),
        created_at=found.created_at,
    )
