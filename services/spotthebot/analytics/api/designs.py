"""`/v1/designs`: what a study can show at all, before there is one."""

from typing import Annotated

from fastapi import APIRouter, Query

from spotthebot.analytics import stats
from spotthebot.analytics.api.deps import Analyst
from spotthebot.contracts.analytics.analyses import ReachOut
from spotthebot.contracts.analytics.bounds import MAX_ANNOTATORS, MAX_PAIRS
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/designs", tags=["analyses"], route_class=CheckedRoute)


@router.get("/reach", operation_id="get_reach")
async def get_reach(
    _caller: Analyst,
    pairs: Annotated[int, Query(ge=1, le=MAX_PAIRS, description="Pairs of bots.")],
    conversations: Annotated[int, Query(ge=0, le=stats.MAX_CONVERSATIONS, description="Of each pair.")],
    annotations_per_conversation: Annotated[int, Query(ge=1, le=1000)] = 6,
    annotators: Annotated[
        int | None,
        Query(ge=2, le=MAX_ANNOTATORS, description="Null: as many as the work takes at 60 annotations each."),
    ] = None,
) -> ReachOut:
    """Say the smallest p-value that a pair of bots can have, and how many conversations would do.

    It is that of a bot that wins every decided game of another, with the tie rate and the correlations of the published
    studies, adjusted for the number of pairs; at a level of 5 %.
    """
    design = stats.Design(annotations_per_conversation=annotations_per_conversation, annotators=annotators)
    return ReachOut(
        pairs=pairs,
        conversations=conversations,
        smallest_p=stats.smallest_p(conversations, design, n_pairs=pairs),
        least_conversations=stats.least_conversations(design, n_pairs=pairs),
    )
