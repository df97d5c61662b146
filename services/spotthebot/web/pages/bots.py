"""Bots of a team: the list, registering one, how-to, standings."""

from collections.abc import Mapping
from typing import Annotated, Final
from uuid import uuid4

from fastapi import APIRouter, Depends, Query, Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import PEER_TROUBLE, Conflict, Forbidden, Invalid, PeerRefused
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import Services
from spotthebot.web.domain.bot_forms import (
    OF_TEAMS,
    PROTOCOLS,
    WITH_SECRET,
    Fault,
    bot_document,
    faults_of,
    field_at,
    fields_of,
    limit_fields,
)
from spotthebot.web.domain.claims import board_claim
from spotthebot.web.domain.marks import marks_of
from spotthebot.web.domain.standings import LatestRank, latest_ranks
from spotthebot.web.domain.visitors import SignedIn
from spotthebot.web.pages.claims import writer_of_claims
from spotthebot.web.pages.deps import Pages, ServicesOfVisitor, SignedInAs, Team
from spotthebot.web.pages.forms import key_of, typed_in

router = APIRouter(route_class=PageRoute, include_in_schema=False)
OneTeam = Annotated[SignedIn, Depends(SignedInAs(Role.TEAM))]
Cursor = Annotated[str | None, Query(max_length=500)]
_BOTS_A_PAGE: Final = 25
_STANDINGS_A_PAGE: Final = 3
_EMPTY: Final = {"domains": "everyday", "openai.sends_seed": "on"}


@router.get("/bots")
async def list_bots(
    request: Request,
    pages: Pages,
    visitor: Team,
    services: ServicesOfVisitor,
    cursor: Cursor = None,
    name: Annotated[str, Query(max_length=100)] = "",
    team: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """List the bots of the team, or all for an administrator, with their states and latest ranks."""
    bots = await services.bots()
    found = await bots.list_bots(
        name=name.strip() or None, team=team.strip() or None, page_size=_BOTS_A_PAGE, cursor=cursor
    ).page()
    ranks = await _latest_ranks(services) if visitor.role == Role.TEAM and found.items else {}
    return pages.page(
        request,
        "bots/list.html.jinja",
        bots=found.items,
        next_cursor=found.next_cursor,
        is_first=cursor is None,
        ranks=ranks,
        name=name,
        team=team,
    )


@router.get("/bots/new")
async def show_form(request: Request, pages: Pages, visitor: Team) -> Response:
    """Ask for a bot to register."""
    return form_page(request, pages, visitor, typed=_EMPTY, kind="webhook")


@router.post("/bots/new")
async def register(request: Request, pages: Pages, visitor: Team, services: ServicesOfVisitor) -> Response:
    """Register a bot, which the suite probes at once, and lead to its page; or say what is wrong beside each field."""
    typed = await typed_in(request)
    kind = kind_of(typed)
    try:
        bot = BotIn.model_validate(bot_document(typed, kind))
        bots = await services.bots()
        registered = await bots.register_bot(bot, probe=False, idempotency_key=key_of(typed))
    except ValidationError as error:
        return form_page(request, pages, visitor, typed=typed, kind=kind, faults=faults_of(error, kind))
    except (Invalid, Conflict, Forbidden) as error:
        return form_page(request, pages, visitor, typed=typed, kind=kind, faults=refused(error, kind))
    return RedirectResponse(f"/bots/{registered.id}", status_code=303)


@router.get("/bots/how-to")
async def how_to(request: Request, pages: Pages, _visitor: Team) -> Response:
    """Show how a bot is made and registered, with examples to copy."""
    return pages.page(request, "bots/how_to.html.jinja", bots_url=request.app.state.settings.bots_url)


@router.get("/bots/standings")
async def standings(
    request: Request, pages: Pages, _visitor: OneTeam, services: ServicesOfVisitor, cursor: Cursor = None
) -> Response:
    """Show where the team's bots stand in each campaign whose results were released."""
    analytics = await services.analytics()
    found = await analytics.list_standings(page_size=_STANDINGS_A_PAGE, cursor=cursor).page()
    return pages.page(
        request,
        "bots/standings.html.jinja",
        standings=found.items,
        marks=marks_of,
        claim_of=board_claim,
        claimed=writer_of_claims(pages, request),
        next_cursor=found.next_cursor,
        is_first=cursor is None,
    )


def form_page(  # what the form shows
    request: Request,
    pages: Pages,
    visitor: SignedIn,
    *,
    typed: Mapping[str, str],
    kind: str,
    faults: Mapping[str, Fault] | None = None,
    bot: object = None,
) -> Response:
    """Return the form of a bot, or of the next version of `bot`, with what was typed and what is wrong with it."""
    offered = tuple(PROTOCOLS) if visitor.role == Role.ADMIN else OF_TEAMS
    return pages.page(
        request,
        "bots/form.html.jinja",
        status=422 if faults else 200,
        kinds={each: fields_of(each) for each in offered},
        limits=limit_fields(),
        chosen=kind,
        typed=typed,
        faults=faults or {},
        secret_lost=bool(faults) and bool(typed.get(f"{kind}.secret")) and kind in WITH_SECRET,
        once=uuid4().hex,
        bot=bot,
    )


def kind_of(typed: Mapping[str, str]) -> str:
    """Return the protocol that was chosen; a webhook where none was that there is."""
    kind = typed.get("kind", "")
    return kind if kind in PROTOCOLS else "webhook"


def refused(error: PeerRefused, kind: str) -> dict[str, Fault]:
    """Return what the service says of each field; what it says of the whole stands above the form."""
    found = {
        field_at(each.pointer.strip("/").split("/"), kind): Fault(detail=each.detail)
        for each in error.problem.errors
        if each.pointer
    }
    if not found and isinstance(error, Conflict):
        return {"name": Fault("name_taken")} if "registered already" in error.problem.detail else {"": _said(error)}
    return found or {"": _said(error)}


def _said(error: PeerRefused) -> Fault:
    return Fault(detail=error.problem.detail)


async def _latest_ranks(services: Services) -> dict[str, LatestRank] | None:
    """Return each bot's latest rank by its name; None while `analytics` does not answer."""
    try:
        analytics = await services.analytics()
        return latest_ranks([each async for each in analytics.list_standings()])
    except PEER_TROUBLE:
        return None
