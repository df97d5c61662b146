"""`/v1/score-sets/{set_id}/correlation` and `/v1/system-correlations`: how scores agree with people's ratings."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.contracts.fed.correlations import CorrelationLevel, CorrelationsOut
from spotthebot.contracts.fed.system_correlations import MAX_RATINGS, SystemCorrelationsIn, SystemCorrelationsOut
from spotthebot.fed.correlations.use_cases.correlate import correlate
from spotthebot.fed.correlations.use_cases.ratings import fetch_ratings
from spotthebot.fed.correlations.use_cases.systems import correlate_systems
from spotthebot.fed.deps import Reader, ServiceResources
from spotthebot.fed.score_sets.use_cases import get_complete
from spotthebot.kit.web.core.bodies import large_batch
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Pool

router = APIRouter(prefix="/v1/score-sets/{set_id}", tags=["score sets"], route_class=CheckedRoute)
_RATINGS = large_batch(max_bytes=32 * 2**20, max_values=5 * MAX_RATINGS)
systems_router = APIRouter(prefix="/v1/system-correlations", tags=["score sets"], route_class=CheckedRoute)


@router.get("/correlation", operation_id="get_correlation")
async def get_correlation(
    database: Pool,
    _caller: Reader,
    resources: ServiceResources,
    set_id: UUID,
    campaign_id: Annotated[
        UUID | None, Query(description="Whose annotations; without it, how people who chatted with the bots rate them.")
    ] = None,
    rated: Annotated[
        str, Query(min_length=1, max_length=101, description="The question: QUESTION, QUESTION:CHOICE, or label.")
    ] = "label",
    level: Annotated[CorrelationLevel, Query()] = "dialogue",
) -> CorrelationsOut:
    """Correlate the scores with people's ratings of the same conversations.

    The ratings come from a campaign's annotators, or from the people who chatted with the bots. An answer on a scale
    counts its points. `QUESTION:CHOICE` counts 1 if the choice was taken, else 0. `label` counts 1 for human, 0.5 for
    unsure and 0 for bot. A preference counts 1 for the preferred side and 0.5 for a tie. Next to each correlation of
    the scores stands the correlation of the dialogues' length. The agreement between two halves of the annotators is
    stated as well.
    """
    async with database.read() as session:
        job = await get_complete(session, set_id)
    clients = resources.campaigns, resources.collections
    ratings = await fetch_ratings(*clients, job, campaign_id, rated=rated, level=level)
    return await correlate(database, job, ratings)


@systems_router.post("", operation_id="correlate_systems", openapi_extra=_RATINGS)
async def create_system_correlations(
    database: Pool, _caller: Reader, resources: ServiceResources, request: SystemCorrelationsIn
) -> SystemCorrelationsOut:
    """Correlate bots' mean scores with people's mean ratings, for several score sets side by side; nothing is stored.

    Scores and ratings may come from different collections, campaigns, chats, studies and tables: bots are matched by
    name. Each dimension is compared with the question of the same name, or all with `rated`. Next to each correlation
    stands that of the dialogues' length. The agreement between two halves of the people is the ceiling.
    """
    return await correlate_systems(database, resources.campaigns, resources.collections, request)
