"""`/v1/bots/{id}/replies`: ask a bot for replies."""

from uuid import UUID

from fastapi import APIRouter, Request

from spotthebot.bots.deps import AskerOfBot, bot_of, context_of
from spotthebot.bots.replies import use_cases
from spotthebot.contracts.bots.replies import MAX_REPLIES_BYTES, RepliesIn, RepliesOut
from spotthebot.kit.web.core.bodies import large_batch
from spotthebot.kit.web.database.idempotency import IdempotentRoute

router = APIRouter(prefix="/v1/bots", tags=["bots"], route_class=IdempotentRoute)
_CONTEXTS = large_batch(max_bytes=MAX_REPLIES_BYTES, max_values=300_000)


# This endpoint is called the most. It is the first since FastAPI compares a path with each route in turn, twice, and it
# reads the context itself since a dependency costs a request 0.02 ms.
@router.post("/{bot_id}/replies", operation_id="reply", openapi_extra=_CONTEXTS)
async def reply(caller: AskerOfBot, http: Request, bot_id: UUID, request: RepliesIn) -> RepliesOut:
    """Ask a bot for one reply to each context; a failure takes the place of its reply, and delays no other reply."""
    bot = bot_of(http, caller, bot_id)
    return await use_cases.reply(context_of(http), bot, request)
