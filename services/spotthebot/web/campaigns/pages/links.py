"""Entry links of a campaign: the number of people who used each link, and the revocation of a link."""

from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.confirmations.pages import Question, ask
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor

router = APIRouter(
    prefix="/admin/campaigns/{campaign_id}/links/{link_id}", route_class=PageRoute, include_in_schema=False
)


@router.get("/revoke")
async def ask_before(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, link_id: UUID
) -> Response:
    """Describe the effects of revoking an entry link, and ask for a confirmation."""
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    back = f"/admin/campaigns/{campaign_id}"
    name = f"{campaign.name} · {link_id.hex[-6:]}"
    return ask(request, pages, Question(of="link", action="revoke", name=name, back=back))


@router.post("/revoke")
async def revoke(services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, link_id: UUID) -> Response:
    """Revoke an entry link."""
    await (await services.annotation()).revoke_entry_link(campaign_id, link_id)
    return RedirectResponse(f"/admin/campaigns/{campaign_id}", status_code=303)
