"""Pages of a team: its list of bots, the form that registers a bot, instructions, and standings."""

from collections.abc import Mapping
from typing import Annotated, Final
from uuid import uuid4

from fastapi import APIRouter, Depends, Query, Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import PEER_TROUBLE, Conflict, Forbidden, Invalid, PeerRefused
from spotthebot.contracts.access import Role
from spotthebot.contracts.analytics.standings import StandingOut
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.kit.web.core.problems import INVALID_REQUEST
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.bots.domain import latest_ranks
from spotthebot.web.bots.forms import (
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
from spotthebot.web.claims.domain import board_claim
from spotthebot.web.claims.pages import writer_of_claims
from spotthebot.web.clients import Services
from spotthebot.web.deps import Pages, ServicesOfVisitor, SignedInAs, Team
from spotthebot.web.layout.forms import key_of
from spotthebot.web.layout.pages import typed_in
from spotthebot.web.marks.domain import marks_of
from spotthebot.web.resources import resources_of
from spotthebot.web.visitors.domain import SignedIn

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
    """List the team's bots with their states and latest ranks. Administrators see the bots of all teams."""
    bots = await services.bots()
    found = await bots.list_bots(
        name=name.strip() or None, team=team.strip() or None, page_size=_BOTS_A_PAGE, cursor=cursor
    ).page()
    standings = await read_standings(services) if visitor.role == Role.TEAM and found.items else []
    return pages.page(
        request,
        "bots/list.html.jinja",
        bots=found.items,
        next_cursor=found.next_cursor,
        is_first=cursor is None,
        ranks=None if standings is None else latest_ranks(standings),
        name=name,
        team=team,
    )


@router.get("/bots/new")
async def show_form(request: Request, pages: Pages, visitor: Team) -> Response:
    """Show the empty form that registers a bot."""
    return form_page(request, pages, visitor, typed=_EMPTY, kind="webhook")


@router.post("/bots/new")
async def register(request: Request, pages: Pages, visitor: Team, services: ServicesOfVisitor) -> Response:
    """Register a bot and show its page. The suite probes the bot immediately. If the form has faults, show it again."""
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
    """Show how to write and register a bot, with examples to copy."""
    bots_url = resources_of(request).settings.bots_url
    return pages.page(request, "bots/how_to.html.jinja", bots_url=bots_url, model="my-bot")


@router.get("/bots/standings")
async def standings(
    request: Request, pages: Pages, _visitor: OneTeam, services: ServicesOfVisitor, cursor: Cursor = None
) -> Response:
    """Show the ranks of the team's bots in each campaign with released results."""
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
    """Return the page with the form of a new bot, or of the next version of `bot`.

    The form contains the texts typed before, and their faults.
    """
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
    """Return the protocol that the visitor chose; `webhook` if the visitor chose no known protocol."""
    kind = typed.get("kind", "")
    return kind if kind in PROTOCOLS else "webhook"


def refused(error: PeerRefused, kind: str) -> dict[str, Fault]:
    """Return the faults that the service reported, by field.

    The key `""` is for a fault that concerns no single field. A refusal for one field's sake is said as a whole, since
    its sentence has the remedy.
    """
    named = {each.pointer.strip("/"): each.detail for each in error.problem.errors if each.pointer}
    has_sentence = len(named) == 1 and not error.problem.type.endswith(INVALID_REQUEST)
    found = {
        field_at(at.split("/"), kind): _said(error) if has_sentence else Fault(detail=said)
        for at, said in named.items()
    }
    if not found and isinstance(error, Conflict):
        return {"name": Fault("name_taken")} if "registered already" in error.problem.detail else {"": _said(error)}
    return found or {"": _said(error)}


def _said(error: PeerRefused) -> Fault:
    return Fault(detail=error.problem.detail)


async def read_standings(services: Services) -> list[StandingOut] | None:
    """Return the team's standings. None if `analytics` does not answer."""
    try:
        analytics = await services.analytics()
        return [each async for each in analytics.list_standings()]
    except PEER_TROUBLE:
        return None
