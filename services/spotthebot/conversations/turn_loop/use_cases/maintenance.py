"""Maintenance of the turn loop, in every worker: replace lost runners, and check unavailable bots."""

import math
from datetime import UTC, datetime, timedelta

from spotthebot.contracts.bots.registry import BotOut
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.conversations.domain import MAX_ATTEMPTS
from spotthebot.conversations.conversations.errors import UnknownBot
from spotthebot.conversations.events.use_cases import publish_finished_collections, publish_recovered_bot
from spotthebot.conversations.turn_loop.domain import MAY_RECOVER, REPLIES, UnavailableBot
from spotthebot.conversations.turn_loop.store import claims as claims_store
from spotthebot.conversations.turn_loop.store import concurrency_slots as concurrency_slots_store
from spotthebot.conversations.turn_loop.store import unavailable_bots as unavailable_bots_store
from spotthebot.kit.database.sessions import Database, WriteSession
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.telemetry.logs import get_logger

RUN_CONVERSATIONS = "conversations:run_conversations"
RUNNERS = "runners"
"""The queue of the jobs that run conversations."""
_MAX_RUNNERS = 256

_log = get_logger(__name__)


async def queue_runners(session: WriteSession, jobs: Jobs, *, waiting: int, batch: int) -> None:
    """Queue enough jobs for this many waiting conversations; a job without work ends."""
    if not waiting:
        return
    queued = await claims_store.count_jobs(session, RUN_CONVERSATIONS)
    for _ in range(min(math.ceil(waiting / batch), _MAX_RUNNERS) - queued):
        await jobs.defer(session, RUN_CONVERSATIONS, {}, queue=RUNNERS)


async def maintain(database: Database, jobs: Jobs, bots: Bots, *, batch: int, patience: timedelta) -> None:
    """Check runners and bots once. If several workers call this at the same time, only one of them does the check."""
    async with database.write() as session:
        if not await claims_store.lock_maintenance(session):
            return
        if orphans := await claims_store.release_orphans(session, max_attempts=MAX_ATTEMPTS):
            _log.warning("conversations.released", number=orphans, reason="their runner is gone")
        await concurrency_slots_store.release_orphans(session, runners=RUN_CONVERSATIONS)
        await publish_finished_collections(session, jobs, await collections_store.complete_ended(session))
        waiting = await claims_store.count_waiting(session, limit=_MAX_RUNNERS * batch)
        await queue_runners(session, jobs, waiting=waiting, batch=batch)
        unavailable = await unavailable_bots_store.list_unavailable(session)
    for bot in unavailable:
        await _check(database, bots, bot, patience)


async def _check(database: Database, bots: Bots, unavailable: UnavailableBot, patience: timedelta) -> None:
    found = await _find(bots, unavailable)
    if found is not None and found.status in REPLIES:
        async with database.write() as session:
            if await unavailable_bots_store.mark_available(session, unavailable.bot_id):
                await publish_recovered_bot(session, found)
        return
    is_gone = found is None or found.status not in MAY_RECOVER
    if is_gone or datetime.now(UTC) - unavailable.since > patience:
        reason = f"{unavailable.name} did not recover: {unavailable.reason}"[:1000]
        while True:
            async with database.write() as session:
                if not await claims_store.fail_waiting(session, unavailable.bot_id, reason):
                    if is_gone:
                        await unavailable_bots_store.mark_available(session, unavailable.bot_id)
                    break


async def _find(bots: Bots, unavailable: UnavailableBot) -> BotOut | None:
    try:
        return await bots.get(unavailable.bot_id)
    except UnknownBot:
        return None
