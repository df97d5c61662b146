"""The first page, with links for each kind of visitor, and what programs read first."""

from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.contracts.access import Role
from spotthebot.kit.web.core.caching import revalidated
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import MaybeVisitor, Pages
from spotthebot.web.sessions import annotator_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_FIRST_PAGES = {Role.ADMIN: "/campaigns", Role.ANALYST: "/campaigns", Role.TEAM: "/bots"}


@router.get("/")
async def home(request: Request, pages: Pages, visitor: MaybeVisitor) -> Response:
    """Redirect a signed-in person to their first page. Show other visitors a description of the suite.

    An annotator's browser also gets a link back to the campaign.
    """
    first = None if visitor is None else _FIRST_PAGES.get(Role(visitor.role))
    if first is not None:
        return RedirectResponse(first, status_code=303)
    annotator = annotator_of(request)
    return pages.page(request, "home/home.html.jinja", campaign_id=annotator and annotator.campaign_id)


@router.get("/llms.txt")
@router.get("/llms-full.txt")
async def texts_for_programs(request: Request) -> Response:
    """Return the introduction for programs, or the text of all documents; both are made by `./stb docs`."""
    return revalidated(request, _text(request.url.path.rpartition("/")[2]), "text/plain; charset=utf-8")


@cache
def _text(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()
