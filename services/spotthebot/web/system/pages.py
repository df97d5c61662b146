"""The overview of running work and services, and the page about keys."""

import asyncio
from contextlib import suppress
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from spotthebot.clients import PeerFailed, PeerUnavailable, UnexpectedAnswer
from spotthebot.contracts.access import Role
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.contracts.conversations.collections import CollectionOut, CollectionState
from spotthebot.contracts.fed.score_jobs import ScoreJobOut, ScoreJobState
from spotthebot.contracts.services import API_NAMES
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import Services
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.system.domain import ServiceHealth, health_of

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)
_NEWEST: Final = 100
_AT_WORK: Final = frozenset({CampaignState.BUILDING, CampaignState.DRAFT, CampaignState.OPEN, CampaignState.PAUSED})
_GROWING: Final = frozenset({CollectionState.COLLECTING, CollectionState.PAUSED})
_SCORING: Final = frozenset({ScoreJobState.QUEUED, ScoreJobState.RUNNING})
_FAILED: Final = (PeerUnavailable, PeerFailed, UnexpectedAnswer, TimeoutError)
_PATIENCE_SECONDS: Final = 4.0
"""The time limit for each service, so that the page does not wait for a service that hangs."""


@router.get("")
async def overview(request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin) -> Response:
    """Show running campaigns, collections and score jobs, and the health of the services."""
    campaigns, collections, jobs, health = await asyncio.gather(
        _campaigns(services), _collections(services), _score_jobs(services), _all_health(services)
    )
    return pages.page(
        request,
        "system/overview.html.jinja",
        campaigns=campaigns,
        collections=collections,
        jobs=jobs,
        health=health,
    )


@router.get("/keys")
async def keys(request: Request, pages: Pages, _visitor: Admin) -> Response:
    """Explain how an operator makes and revokes keys. This works only on the suite's own machine."""
    return pages.page(request, "system/keys.html.jinja", roles=[*Role])


async def _campaigns(services: Services) -> list[CampaignOut] | None:
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            page = await (await services.annotation()).list_campaigns(order="newest_first", page_size=_NEWEST).page()
    except _FAILED:
        return None
    return [each for each in page.items if each.state in _AT_WORK]


async def _collections(services: Services) -> list[CollectionOut] | None:
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            listed = (await services.conversations()).list_collections(order="newest_first", page_size=_NEWEST)
            page = await listed.page()
    except _FAILED:
        return None
    return [each for each in page.items if each.state in _GROWING]


async def _score_jobs(services: Services) -> list[ScoreJobOut] | None:
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            page = await (await services.fed()).list_score_jobs().page()
    except _FAILED:
        return None
    return [each for each in page.items if each.state in _SCORING]


async def _all_health(services: Services) -> list[ServiceHealth]:
    return [*await asyncio.gather(*(_health(services, name) for name in API_NAMES))]


async def _health(services: Services, name: str) -> ServiceHealth:
    client = await getattr(services, name)()
    reason, metrics = None, None
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await client.readiness()
    except TimeoutError:
        return health_of(name, f"{name} does not answer within {_PATIENCE_SECONDS:.0f} s.", None)
    except _FAILED as error:
        reason = str(error)
    with suppress(*_FAILED):
        async with asyncio.timeout(_PATIENCE_SECONDS):
            metrics = await client.metrics()
    return health_of(name, reason, metrics)
