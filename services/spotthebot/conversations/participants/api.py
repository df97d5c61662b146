"""`/v1/partner-sets`: the fixed partners of bipartite-play, named and versioned."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from spotthebot.contracts.conversations.partner_sets import PartnerSetIn, PartnerSetOut
from spotthebot.contracts.wire import Name
from spotthebot.conversations.deps import AdminsClaim, Reader
from spotthebot.conversations.participants import store
from spotthebot.conversations.participants.use_cases import create_partner_set as create
from spotthebot.conversations.participants.use_cases import find_bots
from spotthebot.conversations.resources import ServiceResources
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading

router = APIRouter(prefix="/v1/partner-sets", tags=["partner sets"], route_class=IdempotentRoute)


@router.post("", status_code=201, operation_id="create_partner_set")
async def create_partner_set(claim: AdminsClaim, resources: ServiceResources, request: PartnerSetIn) -> PartnerSetOut:
    """Store bots, in their present versions, as the next version of a partner set."""
    partners = await find_bots(resources.bots, request.bots)
    return PartnerSetOut.of(await create(await claim.begin(), request, partners))


@router.get("", operation_id="list_partner_sets")
async def list_partner_sets(
    session: Reading, _caller: Reader, paging: Paging, name: Annotated[Name | None, Query()] = None
) -> Page[PartnerSetOut]:
    """List versions of partner sets, oldest first."""
    rows = await store.list_partner_sets(session, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda each: each.id, to_out=PartnerSetOut.of)


@router.get("/{name}/versions/{version}", operation_id="get_partner_set")
async def get_partner_set(
    session: Reading, _caller: Reader, name: Name, version: Annotated[int, Path(ge=1, lt=2**31)]
) -> PartnerSetOut:
    """Return one version of a partner set; it never changes."""
    return PartnerSetOut.of(await store.get_partner_set(session, name, version))
