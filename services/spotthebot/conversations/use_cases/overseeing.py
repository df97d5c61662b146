"""What keeps collections going whatever dies: lost runners are replaced, bots that are away are looked after."""

import math
from datetime import UTC, datetime, timedelta

from spotthebot.contracts.bots import BotOut, BotStatus
from spotthebot.conversations import store
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.errors import UnknownBot
from spotthebot.conversations.domain.stepping import MAX_ATTEMPTS
from spotthebot.conversations.use_cases.telling import tell_bot_is_back, tell_finished
from spotthebot.kit.database import Database, WriteSession
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.logs import get_logger

HOLD_CONVERSATIONS = "conversations:hold_conversations"
RUNNERS = "runners"
"""The queue of the jobs that hold conversations."""
_MAX_RUNNERS = 256

_log = get_logger(__name__)


async def queue_runners(session: WriteSession, jobs: Jobs, *, waiting: int, batch: int) -> None:
    """Queue the jobs that hold so many conversations; one that finds nothing to do ends."""
    there = await store.claims.count_jobs(session, HOLD_CONVERSATIONS)
    for _ in range(min(math.ceil(waiting / batch), _MAX_RUNNERS) - there):
        await jobs.defer(session, HOLD_CONVERSATIONS, {}, queue=RUNNERS)


async def oversee(database: Database, jobs: Jobs, bots: Bots, *, batch: int, patience: timedelta) -> None:
    """Look after everything once; of many that do so at the same time, one does it and the others leave it."""
    async with database.write() as session:
        if not await store.claims.take_oversight(session):
            return
        if orphans := await store.claims.release_orphans(session, max_attempts=MAX_ATTEMPTS):
            _log.warning("conversations.released", number=orphans, reason="their runner is gone")
        await store.places.free_orphans(session, runners=HOLD_CONVERSATIONS)
        await tell_finished(session, jobs, await store.claims.finish_ended(session))
        waiting = await store.claims.count_waiting(session, most=_MAX_RUNNERS * batch)
        await queue_runners(session, jobs, waiting=waiting, batch=batch)
        away = await store.places.list_away(session)
    for bot in away:
        await _look_after(database, bots, bot, patience)


async def _look_after(database: Database, bots: Bots, away: store.places.AwayBot, patience: timedelta) -> None:
    found = await _find(bots, away)
    if found is not None and found.status in {BotStatus.ACTIVE, BotStatus.PROBING}:
        async with database.write() as session:
            if await store.places.mark_back(session, away.bot_id):
                await tell_bot_is_back(session, found)
        return
    is_gone = found is None or found.status is BotStatus.RETIRED
    if is_gone or datetime.now(UTC) - away.since > patience:
        reason = f"{away.name} did not come back: {away.reason}"[:1000]
        while True:
            async with database.write() as session:
                if not await store.claims.fail_waiting(session, away.bot_id, reason):
                    if is_gone:
                        await store.places.mark_back(session, away.bot_id)
                    break


async def _find(bots: Bots, away: store.places.AwayBot) -> BotOut | None:
    try:
        return await bots.get(away.bot_id)
    except UnknownBot:
        return None
