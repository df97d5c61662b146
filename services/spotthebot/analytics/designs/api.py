"""`/v1/designs`: which differences a planned study could show."""

from typing import Annotated

from fastapi import APIRouter, Query

from spotthebot.analytics.deps import Analyst
from spotthebot.analytics.stats.design_reach import least_conversations_of_any, lowest_p
from spotthebot.analytics.stats.evaluation_cost import evaluation_cost
from spotthebot.analytics.stats.pair_power import MAX_CONVERSATIONS, Design, power_of
from spotthebot.contracts.analytics.analyses import LIKELY_WIN_RATE, ReachOut
from spotthebot.contracts.analytics.bounds import MAX_ANNOTATORS, MAX_PAIRS
from spotthebot.contracts.analytics.costs import CostIn, CostOut
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/designs", tags=["analyses"], route_class=CheckedRoute)


@router.get("/cost", operation_id="get_cost")
async def get_cost(_caller: Analyst, design: Annotated[CostIn, Query()]) -> CostOut:
    """Return the person-hours of annotating all pairs of bots and of chatting with all bots, and where they cross.

    The seconds are yours to give: `/v1/campaigns/{id}/time` has those of annotations, and
    `/v1/collections/{id}/chat-times` those of chats.
    """
    return CostOut.of(evaluation_cost(**dict(design)))


@router.get("/reach", operation_id="get_reach")
async def get_reach(
    _caller: Analyst,
    pairs: Annotated[int, Query(ge=1, le=MAX_PAIRS, description="Pairs of bots.")],
    conversations: Annotated[int, Query(ge=0, le=MAX_CONVERSATIONS, description="Of each pair.")],
    annotations_per_conversation: Annotated[int, Query(ge=1, le=1000)] = 6,
    annotators: Annotated[
        int | None,
        Query(ge=2, le=MAX_ANNOTATORS, description="The most that take part. Null: each annotation may have its own."),
    ] = None,
) -> ReachOut:
    """Return a bound of the p-values of bots that all met, and the power to show a likely difference.

    No labels give two bots a smaller p-value, adjusted for the pairs, by the default tests of rankings and of pairs. A
    number of conversations is sufficient if this bound is below 5 %. The power is that of the test of a pair's own
    games; its tie rate and correlations are those of published studies.
    """
    if annotators is None:
        annotators = max(2, min(MAX_ANNOTATORS, pairs * conversations * annotations_per_conversation))
    design = Design(annotations_per_conversation=annotations_per_conversation, annotators=annotators)
    return ReachOut(
        pairs=pairs,
        conversations=conversations,
        smallest_p=lowest_p(conversations, design, n_pairs=pairs),
        least_conversations=least_conversations_of_any(design, n_pairs=pairs),
        power=power_of(LIKELY_WIN_RATE, conversations, design, n_pairs=pairs),
    )
