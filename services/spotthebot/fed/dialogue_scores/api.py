"""`/v1/score-sets/{set_id}/partners`, `/stability`, `/difference` and others: scores by dialogue."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.contracts.fed.dialogue_scores import (
    MAX_SIZES,
    OrderStabilityOut,
    PartnerScoresOut,
    ScoreDifferenceOut,
    UnfairPoolOut,
)
from spotthebot.contracts.fed.references import (
    MAX_DIALOGUES,
    MAX_REFERENCES,
    RankingBesideOut,
    RankingIn,
    ScoreReference,
)
from spotthebot.contracts.levels import MAX_LEVEL
from spotthebot.contracts.wire import Name
from spotthebot.fed.deps import Reader, ServiceResources
from spotthebot.fed.dialogue_scores.use_cases.differences import compute_difference
from spotthebot.fed.dialogue_scores.use_cases.played import (
    compare_pools,
    compute_stability,
    read_played,
    summarize_partners,
)
from spotthebot.fed.dialogue_scores.use_cases.references import rank_beside, read_reference
from spotthebot.fed.stats.order_stability import MAX_SIZE
from spotthebot.kit.web.core.bodies import large_batch
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Pool

router = APIRouter(prefix="/v1/score-sets/{set_id}", tags=["score sets"], route_class=CheckedRoute)
Dimension = Annotated[Name | None, Query(description="Null: the first of the set.")]
REFERENCES = large_batch(max_bytes=64 * 2**20, max_values=MAX_REFERENCES * MAX_DIALOGUES * 6)
Seed = Annotated[int, Query(ge=0, lt=2**63)]


@router.get("/partners", operation_id="get_partner_scores")
async def get_partner_scores(
    database: Pool,
    _caller: Reader,
    resources: ServiceResources,
    set_id: UUID,
    bot: Annotated[Name, Query(description="Whose dialogues.")],
    dimension: Dimension = None,
) -> PartnerScoresOut:
    """Return a bot's mean scores by partner, with an example of each: which partners bring out its weaknesses."""
    played = await read_played(database, resources.collections, set_id, dimension)
    return await summarize_partners(played, bot)


@router.get("/stability", operation_id="get_order_stability")
async def get_order_stability(
    database: Pool,
    _caller: Reader,
    resources: ServiceResources,
    set_id: UUID,
    dimension: Dimension = None,
    sizes: Annotated[
        list[Annotated[int, Query(ge=1, le=MAX_SIZE)]] | None,
        Query(max_length=MAX_SIZES, description="Dialogues of each pair; null: up to 12, up to the collected ones."),
    ] = None,
    samples: Annotated[int, Query(ge=100, le=1000, description="Random samples of each size.")] = 500,
    seed: Seed = 0,
) -> OrderStabilityOut:
    """Return the share of random samples of dialogues that rank the bots in the commonest order, by their size."""
    played = await read_played(database, resources.collections, set_id, dimension)
    return await compute_stability(played, sizes=sizes, samples=samples, seed=seed)


@router.get("/unfair-pool", operation_id="get_unfair_pool")
async def get_unfair_pool(
    database: Pool,
    _caller: Reader,
    resources: ServiceResources,
    set_id: UUID,
    unfavoured: Annotated[Name, Query(description="The bot whose rank the pool is to worsen.")],
    similar: Annotated[list[Name], Query(min_length=1, max_length=20, description="Bots that resemble it.")],
    dimension: Dimension = None,
    resamples: Annotated[int, Query(ge=100, le=100_000)] = 10_000,
    seed: Seed = 0,
) -> UnfairPoolOut:
    """Return the 2 x 2 table of bots that win over the unfavoured one, in a fair and in an unfair pool.

    In the fair pool dialogues with similar bots do not count. In the unfair pool only dialogues among a favoured bot,
    the unfavoured bot and the similar bots count. Partners that were not scored always count, as in bipartite-play.
    """
    played = await read_played(database, resources.collections, set_id, dimension)
    return await compare_pools(played, unfavoured=unfavoured, similar=similar, resamples=resamples, seed=seed)


@router.get("/difference", operation_id="get_score_difference")
async def get_score_difference(
    database: Pool,
    _caller: Reader,
    resources: ServiceResources,
    set_id: UUID,
    baseline: Annotated[UUID, Query(description="The score set to compare with.")],
    dimension: Dimension = None,
    confidence_level: Annotated[float, Query(gt=0.5, le=MAX_LEVEL, description="Of each bound.")] = 0.95,
) -> ScoreDifferenceOut:
    """Return how much a bot's scores differ from those of another bot, or another version, in the same conversations.

    Both collections need one plan with one target each: same partners, openings and seed. Dialogues are paired by their
    place in the plan.
    """
    return await compute_difference(
        database, resources.collections, set_id, baseline, dimension=dimension, confidence_level=confidence_level
    )


@router.get("/reference", operation_id="get_score_reference")
async def get_score_reference(
    database: Pool, _caller: Reader, resources: ServiceResources, set_id: UUID
) -> ScoreReference:
    """Return the scores by dialogue, with hashes of texts, so that other bots can be ranked beside these elsewhere."""
    return (await read_reference(database, resources.collections, set_id)).reference


@router.post("/ranking", operation_id="rank_beside_references", openapi_extra=REFERENCES)
async def create_ranking(
    database: Pool, _caller: Reader, resources: ServiceResources, set_id: UUID, request: RankingIn
) -> RankingBesideOut:
    """Rank the set's bots beside the bots of references, which were scored in the same way; nothing is stored."""
    own = await read_reference(database, resources.collections, set_id)
    return await rank_beside(own, request.references)
