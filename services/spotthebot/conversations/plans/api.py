"""`/v1/collections`: start a collection, or estimate what it would cost."""

from fastapi import APIRouter

from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.conversations.collections import (
    BotWarningOut,
    CollectionIn,
    EstimateOut,
    ImportIn,
    PlannedIn,
    StartedCollectionOut,
)
from spotthebot.conversations.chats.use_cases.collection import open_chat_collection
from spotthebot.conversations.collections.api import collection_out
from spotthebot.conversations.collections.domain import Collection
from spotthebot.conversations.deps import AdminsClaim, Reader
from spotthebot.conversations.imports.use_cases import open_import
from spotthebot.conversations.participants.use_cases import Participants, find_bots, find_participants
from spotthebot.conversations.plans import use_cases
from spotthebot.conversations.plans.use_cases import start_collection
from spotthebot.conversations.resources import ServiceResources
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Pool

router = APIRouter(prefix="/v1", tags=["collections"], route_class=IdempotentRoute)


@router.post("/collections", status_code=201, operation_id="create_collection")
async def create_collection(
    claim: AdminsClaim,
    database: Pool,
    resources: ServiceResources,
    request: CollectionIn,
) -> StartedCollectionOut:
    """Start a collection: run its planned conversations, or open it for people's chats or for uploads.

    `warnings` names failing bots, and bots registered for other domains. An estimate has the same warnings before a
    start.
    """
    if isinstance(request, ImportIn):
        takes_part = Participants(())
        started = await open_import(await claim.begin(), request)
    elif isinstance(request, HumanBotIn):
        takes_part = await find_bots(resources.bots, request.bots)
        session = await claim.begin()
        if request.personas is not None:
            await use_cases.check_personas(session, request.personas)
        started = await open_chat_collection(session, request, takes_part)
    else:
        takes_part = await find_participants(database, resources.bots, request)
        batch = resources.settings.conversations_per_batch
        started = await start_collection(await claim.begin(), resources.jobs, request, takes_part, batch=batch)
    return started_collection_out(started, takes_part.warnings(request.domain))


@router.post("/collections/dry-run", operation_id="estimate_collection")
async def estimate_collection(
    _caller: Reader, database: Pool, resources: ServiceResources, request: PlannedIn
) -> EstimateOut:
    """Estimate the cost of a collection, with all checks of a start; nothing is stored."""
    return await use_cases.estimate_collection(database, resources.bots, request)


def started_collection_out(collection: Collection, warnings: tuple[BotWarningOut, ...]) -> StartedCollectionOut:
    """Convert a started collection to its wire type."""
    return StartedCollectionOut(**dict(collection_out(collection)), warnings=warnings)
