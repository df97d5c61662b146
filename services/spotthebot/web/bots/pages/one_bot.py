"""Pages of one bot: its live probe, its performance, its versions, its conversations, and changes to it."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Form, Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import PEER_TROUBLE, Conflict, Forbidden, Invalid
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots.registry import BotChangesIn, BotOut, BotStatus, BotVersionIn, BotVersionOut, SecretIn
from spotthebot.contracts.conversations.performance import BotPerformanceOut
from spotthebot.kit.ids import made_at
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.bots.domain import changes, placed_in
from spotthebot.web.bots.forms import Fault, faults_of, limit_fields, settings_document, values_of, version_document
from spotthebot.web.bots.pages.bots import Cursor, form_page, kind_of, read_standings, refused
from spotthebot.web.clients import Services, services_with
from spotthebot.web.deps import Pages, ServicesOfVisitor, Team
from spotthebot.web.layout.forms import key_of
from spotthebot.web.layout.pages import typed_in
from spotthebot.web.resources import resources_of

router = APIRouter(prefix="/bots/{bot_id}", route_class=PageRoute, include_in_schema=False)
_CONVERSATIONS_A_PAGE: Final = 20
_PROBES: Final = 100
"""The number of probes that `bots` keeps of a bot."""
_LONGEST_PROBE_SECONDS: Final = 60.0
_COMPARED: Final = 5
"""The number of latest versions whose performance the page compares."""


@router.get("")
async def show(request: Request, pages: Pages, visitor: Team, services: ServicesOfVisitor, bot_id: UUID) -> Response:
    """Show a bot: its state, its latest report, its performance and standings, its probes and its versions."""
    bots = await services.bots()
    bot = await bots.get_bot(bot_id)
    probes = await bots.list_bot_probes(bot_id, page_size=_PROBES).page()
    versions = [each async for each in bots.list_bot_versions(bot_id)]
    performance = await _performance(services, bot_id)
    is_followed = bot.status is BotStatus.PROBING
    standings = await read_standings(services) if visitor.role == Role.TEAM and not is_followed else []
    return pages.page(
        request,
        "bots/show.html.jinja",
        bot=bot,
        probes=probes.items[::-1],
        versions=versions[::-1],
        changes=changes,
        performance=performance,
        by_version=await _by_version(services, bot_id, versions) if performance else [],
        placed=placed_in(standings or [], bot.name),
        bots_url=resources_of(request).settings.bots_url,
        model=bot_id,
    )


@router.post("/probe")
async def probe(request: Request, visitor: Team, bot_id: UUID) -> Response:
    """Probe the bot, which takes up to 45 seconds, and show its page afterwards."""
    settings = resources_of(request).settings
    async with services_with(settings, visitor.key, timeout_seconds=_LONGEST_PROBE_SECONDS) as services:
        bots = await services.bots()
        await bots.probe_bot(bot_id)
    return _to_bot(bot_id)


@router.post("/status")
async def change_status(
    _visitor: Team, services: ServicesOfVisitor, bot_id: UUID, status: Annotated[BotStatus, Form()]
) -> Response:
    """Activate, suspend or retire the bot."""
    bots = await services.bots()
    await bots.change_bot(bot_id, BotChangesIn(status=status))
    return _to_bot(bot_id)


@router.post("/delete")
async def delete(request: Request, pages: Pages, _visitor: Team, services: ServicesOfVisitor, bot_id: UUID) -> Response:
    """Delete a mistaken registration, and show the list of bots; show the reason if the bot takes part in something."""
    bots = await services.bots()
    try:
        await bots.delete_bot(bot_id)
    except Conflict as error:
        bot = await bots.get_bot(bot_id)
        return _settings_page(request, pages, bot=bot, typed=_settings_of(bot), faults=refused(error, "own"))
    return RedirectResponse("/bots", status_code=303)


@router.get("/settings")
async def show_settings(
    request: Request, pages: Pages, _visitor: Team, services: ServicesOfVisitor, bot_id: UUID, saved: str = ""
) -> Response:
    """Show the form of the bot's settings, which need no new version, and confirm what was saved."""
    bot = await (await services.bots()).get_bot(bot_id)
    return _settings_page(request, pages, bot=bot, typed=_settings_of(bot), saved=saved)


@router.post("/settings")
async def change_settings(
    request: Request, pages: Pages, _visitor: Team, services: ServicesOfVisitor, bot_id: UUID
) -> Response:
    """Change settings of the bot that do not affect its replies."""
    typed = await typed_in(request)
    bots = await services.bots()
    try:
        await bots.change_bot(bot_id, BotChangesIn.model_validate(settings_document(typed)))
    except ValidationError as error:
        bot = await bots.get_bot(bot_id)
        return _settings_page(request, pages, bot=bot, typed=typed, faults=faults_of(error, ""))
    return RedirectResponse(f"/bots/{bot_id}/settings?saved=settings", status_code=303)


@router.post("/secret")
async def replace_secret(
    request: Request, pages: Pages, _visitor: Team, services: ServicesOfVisitor, bot_id: UUID
) -> Response:
    """Replace the secret of the bot's current version."""
    typed = await typed_in(request)
    bots = await services.bots()
    try:
        await bots.replace_bot_secret(bot_id, SecretIn.model_validate({"secret": typed.get("secret", "").strip()}))
    except (ValidationError, Invalid) as error:
        bot = await bots.get_bot(bot_id)
        found = refused(error, "own") if isinstance(error, Invalid) else faults_of(error, "own")
        return _settings_page(request, pages, bot=bot, typed=_settings_of(bot), faults=found)
    return RedirectResponse(f"/bots/{bot_id}/settings?saved=secret", status_code=303)


@router.get("/versions/new")
async def show_version_form(
    request: Request, pages: Pages, visitor: Team, services: ServicesOfVisitor, bot_id: UUID
) -> Response:
    """Show the form of the bot's next version, filled with the current version."""
    bot = await (await services.bots()).get_bot(bot_id)
    kind = bot.protocol.kind
    typed = values_of(bot.protocol.model_dump(mode="json"), kind)
    return form_page(request, pages, visitor, typed=typed, kind=kind, bot=bot)


@router.post("/versions/new")
async def add_version(
    request: Request, pages: Pages, visitor: Team, services: ServicesOfVisitor, bot_id: UUID
) -> Response:
    """Add a version to the bot. The suite probes the new version immediately."""
    typed = await typed_in(request)
    kind = kind_of(typed)
    bots = await services.bots()
    faults: dict[str, Fault]
    try:
        version = BotVersionIn.model_validate(version_document(typed, kind))
        await bots.add_bot_version(bot_id, version, probe=False, idempotency_key=key_of(typed))
    except ValidationError as error:
        faults = faults_of(error, kind)
    except (Invalid, Conflict, Forbidden) as error:
        faults = refused(error, kind)
    else:
        return _to_bot(bot_id)
    return form_page(request, pages, visitor, typed=typed, kind=kind, faults=faults, bot=await bots.get_bot(bot_id))


@router.get("/conversations")
async def conversations(
    request: Request, pages: Pages, _visitor: Team, services: ServicesOfVisitor, bot_id: UUID, cursor: Cursor = None
) -> Response:
    """List the bot's conversations with their turns."""
    bot = await (await services.bots()).get_bot(bot_id)
    held = await services.conversations()
    found = await held.list_conversations_of_bot(bot_id, page_size=_CONVERSATIONS_A_PAGE, cursor=cursor).page()
    return pages.page(
        request,
        "bots/conversations.html.jinja",
        bot=bot,
        conversations=found.items,
        made_at=made_at,
        next_cursor=found.next_cursor,
        is_first=cursor is None,
    )


def _settings_of(bot: BotOut) -> dict[str, str]:
    """Return the texts of the settings form for a bot as it is."""
    typed = {"description": bot.description, "domains": ", ".join(bot.domains)}
    return typed | values_of(bot.limits.model_dump(), "limits") | ({"public": "on"} if bot.public else {})


def _settings_page(
    request: Request,
    pages: Pages,
    *,
    bot: object,
    typed: dict[str, str],
    faults: dict[str, Fault] | None = None,
    saved: str = "",
) -> Response:
    return pages.page(
        request,
        "bots/settings.html.jinja",
        status=422 if faults else 200,
        bot=bot,
        limits=limit_fields(),
        typed=typed,
        faults=faults or {},
        saved=saved,
    )


async def _performance(services: Services, bot_id: UUID) -> BotPerformanceOut | None:
    """Return the bot's performance. None if `conversations` does not answer."""
    try:
        conversations = await services.conversations()
        return await conversations.get_bot_performance(bot_id)
    except PEER_TROUBLE:
        return None


async def _by_version(
    services: Services, bot_id: UUID, versions: Sequence[BotVersionOut]
) -> list[tuple[int, BotPerformanceOut]]:
    """Return the performance of the latest versions that took part; nothing if there is only one to show."""
    numbers = [each.number for each in versions[-_COMPARED:]] if len(versions) > 1 else []
    client = await services.conversations()
    found = await asyncio.gather(*(client.get_bot_performance(bot_id, version=number) for number in numbers))
    held = [(number, each) for number, each in zip(numbers, found, strict=True) if each.conversations]
    return held[::-1] if len(held) > 1 else []


def _to_bot(bot_id: UUID) -> Response:
    return RedirectResponse(f"/bots/{bot_id}", status_code=303)
