"""`/studies`: the list of studies, and one study with its tasks, measures and scores."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from dataclasses import dataclass
from typing import Annotated, Final, Generic, TypeVar
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.clients import PEER_TROUBLE, Conflict, Invalid, NotFound
from spotthebot.contracts.analytics.measures import MeasureResult
from spotthebot.contracts.annotation.studies import LONGEST_STUDY_MEASURE
from spotthebot.contracts.fed.score_jobs import ScoreJobState
from spotthebot.contracts.fed.system_correlations import MAX_SETS, SystemCorrelationsIn, SystemCorrelationsOut
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import Services, services_with
from spotthebot.web.deps import Pages, Reader, ServicesOfVisitor
from spotthebot.web.marks.pages import marks_over
from spotthebot.web.resources import resources_of
from spotthebot.web.settings import WebSettings
from spotthebot.web.streams import streamed

router = APIRouter(prefix="/studies", route_class=PageRoute, include_in_schema=False)
_ON_A_PAGE: Final = 25
_SETS: Final = 50
_SHARE_OF_TIMEOUT: Final = 0.8
"""Computing takes the other services' time; the page is rendered in what is left."""
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Loaded(Generic[_Result]):
    """A result, or the service's sentence that says why there is none; neither if it is still being computed."""

    result: _Result | None = None
    reason: str = ""


@router.get("")
async def list_studies(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """List the studies, oldest first."""
    page = await (await services.annotation()).list_studies(page_size=_ON_A_PAGE, cursor=cursor).page()
    return pages.page(request, "studies/studies.html.jinja", studies=page.items, next_cursor=page.next_cursor)


@router.get("/{study_id:uuid}")
async def show_study(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Reader, study_id: UUID
) -> Response:
    """Show a study: the progress of its tasks, all bots by all measures, and which measures deserve trust."""
    annotation, analytics = await services.annotation(), await services.analytics()
    study = await annotation.get_study(study_id)
    campaigns = await asyncio.gather(*map(annotation.get_campaign, study.campaigns))
    measures, assessment, marks = await asyncio.gather(
        _load(services, analytics.list_study_measures(study_id)),
        _load(services, analytics.assess_study(study_id)),
        marks_over(services, campaigns),
    )
    found = () if measures.result is None else measures.result.measures
    return pages.page(
        request,
        "studies/study.html.jinja",
        study=study,
        campaigns=campaigns,
        measures=measures,
        bots=_bots(found),
        estimates={each.name: {bot.bot: bot.estimate for bot in each.bots} for each in found},
        assessment=assessment,
        marks=marks,
    )


@router.get("/{study_id:uuid}/scores")
async def show_scores(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    study_id: UUID,
    score_set: Annotated[list[UUID] | None, Query(max_length=MAX_SETS)] = None,
    rated: Annotated[str, Query(max_length=LONGEST_STUDY_MEASURE)] = "",
) -> Response:
    """Show whether the scores of chosen sets rank bots as the people of a study do, set by set."""
    annotation, fed, conversations = await services.annotation(), await services.fed(), await services.conversations()
    study = await annotation.get_study(study_id)
    jobs = [each async for each in fed.list_score_jobs() if each.state is ScoreJobState.COMPLETE][-_SETS:]
    collections = await asyncio.gather(*(conversations.get_collection(each.collection_id) for each in jobs))
    chosen = study.scores if score_set is None else tuple(score_set)
    found: Loaded[SystemCorrelationsOut] = Loaded()
    if chosen:
        asked = SystemCorrelationsIn(score_sets=chosen, studies=(study_id,), rated=rated or None)
        found = await _load(services, fed.correlate_systems(asked))
    names = {each.id: each.name for each in collections}
    return pages.page(
        request,
        "studies/scores.html.jinja",
        study=study,
        jobs=jobs,
        names=names,
        chosen=chosen,
        rated=rated,
        found=found,
    )


@router.get("/{study_id:uuid}/values.csv")
async def values(request: Request, visitor: Reader, study_id: UUID) -> Response:
    """Send every value of every measure as a table that `stb analyse table` reads."""
    pieces = _values(resources_of(request).settings, visitor.key, study_id)
    headers = {"Content-Disposition": 'attachment; filename="values.csv"', "Cache-Control": "no-store"}
    return await streamed(pieces, "text/csv; charset=utf-8", headers)


async def _values(settings: WebSettings, key: str, study_id: UUID) -> AsyncGenerator[bytes, None]:
    async with services_with(settings, key) as services:
        async for piece in (await services.analytics()).export_study_values(study_id):
            yield piece


async def _load(services: Services, asked: Awaitable[_Result]) -> Loaded[_Result]:
    """Wait for a result; a service that is late, fails or refuses leaves the rest of the page as it is."""
    try:
        async with asyncio.timeout(services.timeout_seconds * _SHARE_OF_TIMEOUT):
            return Loaded(await asked)
    except (Conflict, Invalid, NotFound) as refused:
        return Loaded(reason=refused.problem.detail)
    except (*PEER_TROUBLE, TimeoutError):
        return Loaded()


def _bots(measures: tuple[MeasureResult, ...]) -> list[str]:
    """Return the names of all bots, in the order of the first measure that has them."""
    return [*dict.fromkeys(bot.bot for each in measures for bot in each.bots)]
