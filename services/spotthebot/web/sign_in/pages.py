"""Sign-in with an API key, sign-out, and the choice of a language."""

import asyncio
import hmac
from typing import Annotated, Final

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import Forbidden, PeerFailed, PeerUnavailable, Unauthenticated
from spotthebot.contracts.access import Role
from spotthebot.kit.access.keys import role_of
from spotthebot.kit.errors import NotFound
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.catalogues import LANGUAGES
from spotthebot.web.clients import Services, services_with
from spotthebot.web.deps import MaybeVisitor, Pages, Sessions
from spotthebot.web.provider import CALLBACK, Attempt, Provider
from spotthebot.web.rendering import LANGUAGE_COOKIE
from spotthebot.web.resources import resources_of
from spotthebot.web.sessions import visitors_of
from spotthebot.web.visitors.domain import SignedIn
from spotthebot.web.visitors.errors import ProviderFailed, SignInExpired

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_YEAR = 365 * 86_400
_PATIENCE_SECONDS = 5.0


@router.get("/sign-in")
async def show_sign_in(request: Request, pages: Pages, _visitor: MaybeVisitor, after: str = "/") -> Response:
    """Show the sign-in form, which asks for an API key."""
    return _page(request, pages, after)


def _page(request: Request, pages: Pages, after: str, *, status: int = 200, fault: str | None = None) -> Response:
    by_provider = resources_of(request).provider is not None
    shown = {"after": _own_path(after), "fault": fault, "by_provider": by_provider}
    return pages.page(request, "sign_in/sign_in.html.jinja", status=status, **shown)


@router.post("/sign-in")
async def sign_in(
    request: Request,
    pages: Pages,
    sessions: Sessions,
    key: Annotated[str, Form()] = "",
    after: Annotated[str, Form()] = "/",
) -> Response:
    """Sign in: store a valid key in the visitor's session."""
    key = key.strip()
    visitor = SignedIn(key, role=role_of(key) or "")
    fault = None
    if visitor.role not in _QUESTIONS:
        fault = "wrong_role" if visitor.role in set(Role) else "not_a_key"
    else:
        async with services_with(resources_of(request).settings, key) as services:
            if not await _is_accepted(visitor, services):
                fault = "not_accepted"
    if fault:
        return _page(request, pages, after, status=422, fault=fault)
    response = RedirectResponse(_own_path(after), status_code=303)
    sessions.write(response, visitor.to_session())
    return response


@router.get("/sign-in/provider")
async def begin(request: Request, after: str = "/") -> Response:
    """Send the browser to the OpenID provider, which sends it back to `finish`.

    It is a link, since our policy lets forms lead to these pages alone.
    """
    address, attempt = await _provider_of(request).begin(_own_path(after))
    response = RedirectResponse(address, status_code=303)
    visitors_of(request).sign_ins.write(response, attempt.to_session())
    return response


@router.get(CALLBACK)
async def finish(
    request: Request, sessions: Sessions, state: str = "", code: str = "", error: str = "", error_description: str = ""
) -> Response:
    """Sign in the person who comes back from the OpenID provider, with the API key of what the person is."""
    provider, sign_ins = _provider_of(request), visitors_of(request).sign_ins
    attempt = sign_ins.read_as(request, Attempt.from_session)
    if attempt is None or not hmac.compare_digest(attempt.state.encode(), state.encode()):
        raise SignInExpired
    if error or not code:
        raise ProviderFailed(reason=(error_description or error or "it sent no code")[:200])
    key = await provider.finish(attempt, code)
    response = RedirectResponse(attempt.after, status_code=303)
    sessions.write(response, SignedIn(key, role_of(key) or "", by="provider").to_session())
    sign_ins.clear(response)
    return response


@router.post("/sign-out")
async def sign_out(request: Request, pages: Pages, sessions: Sessions, visitor: MaybeVisitor) -> Response:
    """Sign out: remove the key from the visitor's session; show the link that ends the one at the provider."""
    provider, response = resources_of(request).provider, None
    if provider is not None and visitor is not None and visitor.by == "provider":
        request.state.visitor = None
        if address := await provider.end():
            response = pages.page(request, "sign_in/signed_out.html.jinja", address=address)
    response = response or RedirectResponse("/", status_code=303)
    sessions.clear(response)
    return response


def _provider_of(request: Request) -> Provider:
    provider = resources_of(request).provider
    if provider is None:
        raise NotFound
    return provider


@router.post("/language")
async def choose(language: Annotated[str, Form()] = "", after: Annotated[str, Form()] = "/") -> Response:
    """Store the visitor's language for a year."""
    response = RedirectResponse(_own_path(after), status_code=303)
    if language in LANGUAGES:
        response.set_cookie(LANGUAGE_COOKIE, language, max_age=_YEAR, path="/", httponly=True, samesite="lax")
    return response


async def _is_accepted(visitor: SignedIn, services: Services) -> bool:
    """Return whether a service accepts the key for the role that the key claims.

    Sends a request that needs this role. If the first service does not answer, a second service is asked.
    """
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
    """Return `after` if it is a path of these pages, else `/`: so no link can lead a visitor to another site."""
    is_own = after.startswith("/") and not after.startswith("//") and "\\" not in after and after.isprintable()
    return after if is_own else "/"
