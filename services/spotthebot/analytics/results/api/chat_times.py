"""`/v1/collections/{id}/chat-times`: how long people chat with a bot."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.analytics.deps import Analyst
from spotthebot.analytics.results.api.deps import ServiceResources
from spotthebot.contracts.analytics.costs import ChatTimesOut
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/collections/{collection_id}", tags=["results"], route_class=CheckedRoute)


@router.get("/chat-times", operation_id="get_chat_times")
async def get_chat_times(_caller: Analyst, resources: ServiceResources, collection_id: UUID) -> ChatTimesOut:
    """Return how long people chat with a bot, for one conversation (Table 4 of Spot The Bot)."""
    return await resources.results.get_chat_times(collection_id)
