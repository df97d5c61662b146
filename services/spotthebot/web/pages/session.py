"""Signing in with an API key, signing out, choosing a language."""

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import Forbidden, PeerFailed, PeerUnavailable, Unauthenticated
from spotthebot.contracts.access import Role
from spotthebot.kit.access.keys import parse_key
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.catalogues import LANGUAGES
from spotthebot.web.clients import Services, services_with
from spotthebot.web.domain.visitors import SignedIn
from spotthebot.web.pages.deps import MaybeVisitor, Pages, Sessions
from spotthebot.web.rendering import LANGUAGE_COOKIE

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_YEAR = 365 * 86_400
_PATIENCE_SECONDS = 5.0


@router.get("/sign-in")
async def show_sign_in(request: Request, pages: Pages, _visitor: MaybeVisitor, after: str = "/") -> Response:
    """Ask for an API key."""
    return pages.page(request, "sign_in.html.jinja", after=_own_path(after), fault=None)


@router.post("/sign-in")
async def sign_in(
    request: Request,
    pages: Pages,
    sessions: Sessions,
    key: Annotated[str, Form()] = "",
    after: Annotated[str, Form()] = "/",
) -> Response:
    """Keep a valid key in the session."""
    key = key.strip()
    visitor = SignedIn(key, role="" if parse_key(key) is None else key.split("_")[1])
    fault = None
    if visitor.role not in _QUESTIONS:
        fault = "wrong_role" if visitor.role in set(Role) else "not_a_key"
    else:
        async with services_with(request.app.state.settings, key) as services:
            if not await _is_accepted(visitor, services):
                fault = "not_accepted"
    if fault:
        return pages.page(request, "sign_in.html.jinja", status=422, after=_own_path(after), fault=fault)
    response = RedirectResponse(_own_path(after), status_code=303)
    sessions.write(response, visitor.to_session())
    return response


@router.post("/sign-out")
async def sign_out(sessions: Sessions) -> Response:
    """Forget the key."""
    response = RedirectResponse("/", status_code=303)
    sessions.clear(response)
    return response


@router.post("/language")
async def choose(language: Annotated[str, Form()] = "", after: Annotated[str, Form()] = "/") -> Response:
    """Remember the language for a year."""
    response = RedirectResponse(_own_path(after), status_code=303)
    if language in LANGUAGES:
        response.set_cookie(LANGUAGE_COOKIE, language, max_age=_YEAR, path="/", httponly=True, samesite="lax")
    return response


async def _is_accepted(visitor: SignedIn, services: Services) -> bool:
    """Ask for what no other role may see, whatever the key says of itself; another service where one is away."""
    first, second = _QUESTIONS[Role(visitor.role)]
    try:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await first(services)
        except (PeerUnavailable, PeerFailed, TimeoutError):
            await second(services)
    except (Unauthenticated, Forbidden):
        return False
    return True


async def _list_trainings(services: Services) -> None:
    await (await services.annotation()).list_trainings(page_size=1).page()


async def _list_hosted_models(services: Services) -> None:
    await (await services.bots()).list_hosted_models(page_size=1).page()


async def _list_campaigns(services: Services) -> None:
    await (await services.analytics()).list_campaigns(page_size=1).page()


async def _list_collections(services: Services) -> None:
    await (await services.conversations()).list_collections(page_size=1).page()


async def _list_bots(services: Services) -> None:
    await (await services.bots()).list_bots(page_size=1).page()


async def _list_standings(services: Services) -> None:
    await (await services.analytics()).list_standings(page_size=1).page()


_QUESTIONS: Final = {
    Role.ADMIN: (_list_trainings, _list_hosted_models),
    Role.ANALYST: (_list_campaigns, _list_collections),
    Role.TEAM: (_list_bots, _list_standings),
}


def _own_path(after: str) -> str:
    """Return a path of these pages: nobody is led elsewhere by a link that looks like ours."""
    is_own = after.startswith("/") and not after.startswith("//") and "\\" not in after and after.isprintable()
    return after if is_own else "/"
