"""What can be asked about a campaign. The computing is done off the event loop."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypeVar
from uuid import UUID

from spotthebot.analytics import stats
from spotthebot.analytics.clients import Studies
from spotthebot.analytics.domain import results
from spotthebot.analytics.domain.errors import NothingToAnalyse, OneBotOnly
from spotthebot.analytics.domain.study import Sample, Study, take_sample
from spotthebot.contracts.analytics import (
    Filter,
    FoolingRatesOut,
    Provenance,
    RankingOut,
    SurvivalOut,
    Unit,
    WinRatesOut,
)
from spotthebot.contracts.annotation import CampaignState

Answer = TypeVar("Answer", bound=Provenance)


@dataclass(frozen=True)
class Parameters:
    """How to analyse."""

    filter: Filter
    unit: Unit
    confidence_level: float
    resamples: int
    seed: int


async def win_rates(studies: Studies, campaign_id: UUID, wanted: Parameters) -> WinRatesOut:
    """Say who wins against whom."""

    def compute(sample: Sample) -> dict[str, Any]:
        return {"win_rates": results.win_rates(_games(sample, wanted), confidence_level=wanted.confidence_level)}

    return await _answer(studies, campaign_id, wanted, WinRatesOut, compute)


async def ranking(studies: Studies, campaign_id: UUID, wanted: Parameters) -> RankingOut:
    """Rank the bots."""

    def compute(sample: Sample) -> dict[str, Any]:
        games = _games(sample, wanted)
        ranked = results.ranking(
            games, confidence_level=wanted.confidence_level, resamples=wanted.resamples, seed=wanted.seed
        )
        return {"ranking": ranked}

    return await _answer(studies, campaign_id, wanted, RankingOut, compute)


async def survival(studies: Studies, campaign_id: UUID, wanted: Parameters) -> SurvivalOut:
    """Say how long bots, and people, pass."""

    def compute(sample: Sample) -> dict[str, Any]:
        curves = results.survival(
            sample.table, confidence_level=wanted.confidence_level, resamples=wanted.resamples, seed=wanted.seed
        )
        return {"survival": curves}

    return await _answer(studies, campaign_id, wanted, SurvivalOut, compute)


async def fooling_rates(studies: Studies, campaign_id: UUID, wanted: Parameters) -> FoolingRatesOut:
    """Say how often bots, and people, are taken for human."""

    def compute(sample: Sample) -> dict[str, Any]:
        return {"fooling_rates": results.fooling_rates(sample.table)}

    return await _answer(studies, campaign_id, wanted, FoolingRatesOut, compute)


def _games(sample: Sample, wanted: Parameters) -> stats.Games:
    games = stats.play_games(sample.table, unit=stats.Unit(wanted.unit))
    if len(games.bots) < 2:
        raise OneBotOnly(bots=len(games.bots))
    return games


async def _answer(
    studies: Studies,
    campaign_id: UUID,
    wanted: Parameters,
    answer: type[Answer],
    compute: Callable[[Sample], dict[str, Any]],
) -> Answer:
    study = await studies.get(campaign_id)

    def analyse() -> Answer:
        sample = take_sample(study, wanted.filter)
        if not sample.counts.annotations:
            raise NothingToAnalyse(filter=wanted.filter, annotations=len(study.annotations))
        return answer(**_provenance(study, sample, wanted), **compute(sample))

    return await asyncio.to_thread(analyse)


def _provenance(study: Study, sample: Sample, wanted: Parameters) -> dict[str, Any]:
    return {
        "campaign_id": study.campaign.id,
        "campaign": study.campaign.name,
        "domain": study.campaign.domain,
        "filter": wanted.filter,
        "unit": wanted.unit,
        "confidence_level": wanted.confidence_level,
        "resamples": wanted.resamples,
        "seed": wanted.seed,
        "counts": sample.counts,
        "data_sha256": sample.sha256,
        "preliminary": study.campaign.state is not CampaignState.COMPLETE,
        "version": version("spotthebot"),
    }
