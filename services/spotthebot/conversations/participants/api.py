"""`/v1/partner-sets`: the fixed partners of bipartite-play, named and versioned."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request

from spotthebot.contracts.conversations.partner_sets import PartnerOut, PartnerSetIn, PartnerSetOut
from spotthebot.contracts.wire import Name
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.deps import AdminsClaim, Reader
from spotthebot.conversations.participants import store
from spotthebot.conversations.participants.domain import PartnerSet
from spotthebot.conversations.participants.use_cases import create_partner_set as create
from spotthebot.conversations.participants.use_cases import find_bots
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading

router = APIRouter(prefix="/v1/partner-sets", tags=["partner sets"], route_class=IdempotentRoute)


async def _bots(request: Request) -> Bots:
    bots: Bots = request.app.state.bots
    return bots


BotsClient = Annotated[Bots, Depends(_bots)]


@router.post("", status_code=201, operation_id="create_partner_set")
async def create_partner_set(claim: AdminsClaim, bots: BotsClient, request: PartnerSetIn) -> PartnerSetOut:
    """Store bots, in their present versions, as the next version of a partner set."""
    partners = await find_bots(bots, request.bots)
    return partner_set_out(await create(await claim.begin(), request, partners))


@router.get("", operation_id="list_partner_sets")
async def list_partner_sets(
    session: Reading, _caller: Reader, paging: Paging, name: Annotated[Name | None, Query()] = None
) -> Page[PartnerSetOut]:
    """List versions of partner sets, oldest first."""
    rows = await store.list_partner_sets(session, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda each: each.id, to_out=partner_set_out)


@router.get("/{name}/versions/{version}", operation_id="get_partner_set")
async def get_partner_set(
    session: Reading, _caller: Reader, name: Name, version: Annotated[int, Path(ge=1, lt=2**31)]
) -> PartnerSetOut:
    """Return one version of a partner set; it never changes."""
    return partner_set_out(await store.get_partner_set(session, name, version))


def partner_set_out(found: PartnerSet) -> PartnerSetOut:
    """Return one version of a partner set."""
    return PartnerSetOut(
        id=found.id,
        name=found.name,
        version=found.version,
        description=found.description,
        partners=tuple(
            PartnerOut(
                bot_id=each.bot_id,
                name=each.name,
                version=each.version,
                configuration_sha256=each.configuration_sha256,
            )
            for each in found.partners
        ),
        created_at=found.created_at,
    )
