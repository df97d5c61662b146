"""`/v1/campaigns/{id}/...`: a campaign's results, computed from the labels that are there now."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.analytics import use_cases
from spotthebot.analytics.api.deps import Analyst, StudiesClient, Wanted
from spotthebot.contracts.analytics import FoolingRatesOut, RankingOut, SurvivalOut, WinRatesOut

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["results"])


@router.get("/win-rates", operation_id="win_rates")
async def win_rates(_caller: Analyst, studies: StudiesClient, campaign_id: UUID, wanted: Wanted) -> WinRatesOut:
    """Return wins, losses and ties of each pair, win rates (Eq. 1 of Spot The Bot) and exact sign tests."""
    return await use_cases.win_rates(studies, campaign_id, wanted)


@router.get("/ranking", operation_id="ranking")
async def ranking(_caller: Analyst, studies: StudiesClient, campaign_id: UUID, wanted: Wanted) -> RankingOut:
    """Return the bots best first, with rank ranges and clusters from a bootstrap of conversations, and TrueSkill."""
    return await use_cases.ranking(studies, campaign_id, wanted)


@router.get("/survival", operation_id="survival")
async def survival(_caller: Analyst, studies: StudiesClient, campaign_id: UUID, wanted: Wanted) -> SurvivalOut:
    """Return survival curves (NPMLE for current-status data), log-rank tests and Cox models of the features."""
    return await use_cases.survival(studies, campaign_id, wanted)


@router.get("/fooling-rates", operation_id="fooling_rates")
async def fooling_rates(_caller: Analyst, studies: StudiesClient, campaign_id: UUID, wanted: Wanted) -> FoolingRatesOut:
    """Return how often each is taken for a human."""
    return await use_cases.fooling_rates(studies, campaign_id, wanted)
