"""`/v1/campaigns/{id}/...`: a campaign's results, computed once for the annotations that are there now."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.analytics.api.deps import Analyst, RequestParameters, Results
from spotthebot.contracts.analytics import (
    AgreementOut,
    Analysis,
    AnnotatorsOut,
    FeaturesOut,
    FoolingRatesOut,
    LeaderboardEntry,
    RankingOut,
    SegmentsOut,
    SensitivityOut,
    SurvivalOut,
    TimeOut,
    TurnPenalty,
    WinRatesOut,
)
from spotthebot.kit.web.core.caching import revalidated
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["results"], route_class=CheckedRoute)

_JSON = "application/json"


@router.get("/win-rates", operation_id="win_rates", response_model=WinRatesOut)
async def win_rates(
    request: Request, _caller: Analyst, results: Results, campaign_id: UUID, parameters: RequestParameters
) -> Response:
    """Return wins, losses and ties of each pair, win rates (Eq. 1 of Spot The Bot) and tests."""
    return revalidated(request, await results.get(campaign_id, "win-rates", parameters), _JSON)


@router.get("/ranking", operation_id="ranking", response_model=RankingOut)
async def ranking(
    request: Request, _caller: Analyst, results: Results, campaign_id: UUID, parameters: RequestParameters
) -> Response:
    """Return the bots best first: win rates, rank ranges, clusters, TrueSkill and Bradley-Terry with ties."""
    return revalidated(request, await results.get(campaign_id, "ranking", parameters), _JSON)


@router.get("/features", operation_id="features", response_model=FeaturesOut)
async def features(
    request: Request, _caller: Analyst, results: Results, campaign_id: UUID, parameters: RequestParameters
) -> Response:
    """Return who was preferred by fluency, sensibleness, specificity, and sensibleness and specificity both."""
    return revalidated(request, await results.get(campaign_id, "features", parameters), _JSON)


@router.get("/segments", operation_id="segments", response_model=SegmentsOut)
async def segments(
    request: Request, _caller: Analyst, results: Results, campaign_id: UUID, parameters: RequestParameters
) -> Response:
    """Return win rates and shares of labels by the number of exchanges seen (Table 8 of Spot The Bot)."""
    return revalidated(request, await results.get(campaign_id, "segments", parameters), _JSON)


@router.get("/fooling-rates", operation_id="fooling_rates", response_model=FoolingRatesOut)
async def fooling_rates(
    request: Request, _caller: Analyst, results: Results, campaign_id: UUID, parameters: RequestParameters
) -> Response:
    """Return how often each is taken for a human."""
    return revalidated(request, await results.get(campaign_id, "fooling-rates", parameters), _JSON)


@router.get("/survival", operation_id="survival", response_model=SurvivalOut)
async def survival(
    request: Request, _caller: Analyst, results: Results, campaign_id: UUID, parameters: RequestParameters
) -> Response:
    """Return survival curves (NPMLE for current-status data), log-rank tests and Cox models of the features."""
    return revalidated(request, await results.get(campaign_id, "survival", parameters), _JSON)


@router.get("/agreement", operation_id="agreement", response_model=AgreementOut)
async def agreement(
    request: Request, _caller: Analyst, results: Results, campaign_id: UUID, parameters: RequestParameters
) -> Response:
    """Return how often two annotators agree (Table 3 of Spot The Bot), Krippendorff's alpha and Fleiss' kappa."""
    return revalidated(request, await results.get(campaign_id, "agreement", parameters), _JSON)


@router.get("/annotators", operation_id="annotators", response_model=AnnotatorsOut)
async def annotators(
    request: Request, _caller: Analyst, results: Results, campaign_id: UUID, parameters: RequestParameters
) -> Response:
    """Return how often annotators are right, and what the ranking is without the weak ones."""
    return revalidated(request, await results.get(campaign_id, "annotators", parameters), _JSON)


@router.get("/time", operation_id="time", response_model=TimeOut)
async def time(
    request: Request, _caller: Analyst, results: Results, campaign_id: UUID, parameters: RequestParameters
) -> Response:
    """Return how long an annotation takes."""
    return revalidated(request, await results.get(campaign_id, "time", parameters), _JSON)


@router.get("/sensitivity", operation_id="sensitivity", response_model=SensitivityOut)
async def sensitivity(
    request: Request, _caller: Analyst, results: Results, campaign_id: UUID, parameters: RequestParameters
) -> Response:
    """Return the ranking under other treatments of "unsure", the other filter and the other units."""
    return revalidated(request, await results.get(campaign_id, "sensitivity", parameters), _JSON)


@router.get("/leaderboard", operation_id="leaderboard")
async def leaderboard(
    _caller: Analyst,
    results: Results,
    campaign_id: UUID,
    paging: Paging,
    penalty: Annotated[TurnPenalty, Query()] = 0.5,
) -> Page[LeaderboardEntry]:
    """List the annotators of a game whose exchanges are opened one by one, those with most points first.

    A right label is worth 1 at the first exchange and 1 - penalty at the last one, a wrong one -1, unsure 0; people and
    bots weigh the same in all. Show it to annotators when the campaign is over.
    """
    entries = await results.get_leaderboard(campaign_id, penalty=penalty)
    begin = 0 if paging.after_number is None else paging.after_number + 1
    rows = [*enumerate(entries)][begin : begin + paging.limit + 1]
    return page_of(rows, paging, key=lambda row: UUID(int=row[0]), to_out=lambda row: row[1])


@router.get("/analysis", operation_id="analysis", response_model=Analysis)
async def analysis(
    request: Request, _caller: Analyst, results: Results, campaign_id: UUID, parameters: RequestParameters
) -> Response:
    """Return all of these results in one document, as `stb analyse` writes it."""
    return revalidated(request, await results.get_document(campaign_id, parameters), _JSON)
