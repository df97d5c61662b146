"""What is told when something happens to a collection or a bot, in the transaction in which it happens."""

from collections.abc import Sequence
from uuid import UUID

from spotthebot.contracts.bots import BotOut
from spotthebot.contracts.conversations import EventType
from spotthebot.conversations import store
from spotthebot.conversations.use_cases.requesting_marks import request_marks
from spotthebot.kit.database import WriteSession
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.logs import get_logger

_log = get_logger(__name__)


async def tell_finished(session: WriteSession, jobs: Jobs, collections: Sequence[UUID]) -> None:
    """Tell that collections have finished."""
    for collection_id in collections:
        await request_marks(session, jobs, collection_id)
        _log.info("collection.finished", collection=str(collection_id))
        ended = await store.collections.get_collection(session, collection_id)
        data = {
            "collection": {"id": str(ended.id), "name": ended.name, "mode": ended.mode, "domain": ended.domain},
            "conversations": ended.conversations,
            "complete": ended.complete,
            "failed": ended.failed,
            "turns": ended.turns,
        }
        await store.outbox.add_event(session, EventType.COLLECTION_FINISHED, data)


async def tell_bot_is_away(session: WriteSession, bot_id: UUID, name: str, reason: str) -> None:
    """Tell that a bot's conversations wait."""
    _log.warning("bot.away", bot=str(bot_id), reason=reason)
    data = {"bot": {"id": str(bot_id), "name": name}, "reason": reason}
    await store.outbox.add_event(session, EventType.BOT_FAILING, data)


async def tell_bot_is_back(session: WriteSession, bot: BotOut) -> None:
    """Tell that a bot answers again."""
    _log.info("bot.back", bot=str(bot.id))
    await store.outbox.add_event(session, EventType.BOT_RECOVERED, {"bot": {"id": str(bot.id), "name": bot.name}})
