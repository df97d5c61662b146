"""The events of `conversations`, published in the transaction in which they happen, and the team of each event."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from spotthebot.clients import PEER_TROUBLE
from spotthebot.contracts.bots.registry import BotOut
from spotthebot.contracts.conversations.events import EventType
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.collections.domain import Collection
from spotthebot.conversations.conversations.errors import UnknownBot
from spotthebot.conversations.events.store import EVENTS
from spotthebot.conversations.quality.use_cases.requests import request_check
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.events.dispatcher import FindTeam
from spotthebot.kit.events.domain import Event
from spotthebot.kit.events.errors import TeamLookupFailed
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.telemetry.tracing import linked_trace

_log = get_logger(__name__)


async def publish_finished_collections(session: WriteSession, jobs: Jobs, collections: Sequence[UUID]) -> None:
    """Publish that collections have finished, each in a separate trace, and request their quality checks."""
    for collection_id in collections:
        ended = await collections_store.get_collection(session, collection_id)
        with linked_trace("finish collection", {"collection": str(collection_id)}, ended.trace):
            await request_check(session, jobs, collection_id)
            _log.info("collection.finished", collection=str(collection_id))
            await EVENTS.outbox.add_event(session, EventType.COLLECTION_FINISHED, _ended(ended))


async def publish_cancelled_collection(session: WriteSession, cancelled: Collection) -> None:
    """Publish that an operator cancelled a collection."""
    _log.info("collection.cancelled", collection=str(cancelled.id))
    data = _ended(cancelled) | {"cancelled": cancelled.cancelled}
    await EVENTS.outbox.add_event(session, EventType.COLLECTION_CANCELLED, data)


async def publish_failing_bot(session: WriteSession, bot_id: UUID, name: str, reason: str) -> None:
    """Publish that a bot is unavailable and its conversations wait."""
    _log.warning("bot.unavailable", bot=str(bot_id), reason=reason)
    data = {"bot": {"id": str(bot_id), "name": name}, "reason": reason}
    await EVENTS.outbox.add_event(session, EventType.BOT_FAILING, data)


async def publish_recovered_bot(session: WriteSession, bot: BotOut) -> None:
    """Publish that a bot replies again and its conversations continue."""
    _log.info("bot.recovered", bot=str(bot.id))
    data = {"bot": {"id": str(bot.id), "name": bot.name}}
    await EVENTS.outbox.add_event(session, EventType.BOT_RECOVERED, data)


def team_finder(bots: Bots) -> FindTeam:
    """Return the function that asks the service `bots` for the team of an event's bot."""

    async def find_team(event: Event) -> str | None:
        try:
            return (await bots.recall(UUID(event.data["bot"]["id"]))).team
        except UnknownBot:
            return None
        except PEER_TROUBLE as error:
            raise TeamLookupFailed from error

    return find_team


def _ended(collection: Collection) -> dict[str, Any]:
    return {
        "collection": {
            "id": str(collection.id),
            "name": collection.name,
            "mode": collection.mode,
            "domain": collection.domain,
        },
        "conversations": collection.conversations,
        "complete": collection.complete,
        "failed": collection.failed,
        "turns": collection.turns,
    }
