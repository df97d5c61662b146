"""`/v1/designs`: which differences a planned study could show."""

from typing import Annotated

from fastapi import APIRouter, Query

from spotthebot.analytics.deps import Analyst
from spotthebot.analytics.stats.evaluation_cost import evaluation_cost
from spotthebot.analytics.stats.pair_power import MAX_CONVERSATIONS, Design, smallest_p
from spotthebot.analytics.stats.sample_size import least_conversations
from spotthebot.contracts.analytics.analyses import ReachOut
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
        Query(ge=2, le=MAX_ANNOTATORS, description="Null: as many as the work takes at 60 annotations each."),
    ] = None,
) -> ReachOut:
    """Return the smallest p-value that a pair of bots can reach, and the smallest sufficient number of conversations.

    The p-value is that of a bot that wins every decided game against another bot, adjusted for the number of pairs. The
    tie rate and the correlations are taken from published studies. A number of conversations is sufficient if this
    p-value is below 5 %.
    """
    design = Design(annotations_per_conversation=annotations_per_conversation, annotators=annotators)
    return ReachOut(
        pairs=pairs,
        conversations=conversations,
        smallest_p=smallest_p(conversations, design, n_pairs=pairs),
        least_conversations=least_conversations(design, n_pairs=pairs),
    )
