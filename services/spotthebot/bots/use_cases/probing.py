"""Probing bots: at registration, on request, and as a heartbeat that keeps their status true."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from spotthebot.bots import store
from spotthebot.bots.asking import Line
from spotthebot.bots.domain.bots import Bot
from spotthebot.bots.domain.conformance import Ask, heartbeat, probe
from spotthebot.bots.domain.dialogue import Context
from spotthebot.bots.domain.replies import Fault, Reply
from spotthebot.bots.use_cases.workshop import Workshop
from spotthebot.contracts.bots import BotStatus, Finding, ProbeOut, ProbeReport, ProbeTrigger, ReplyFailure, Verdict
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import Database, ReadSession, WriteSession
from spotthebot.kit.errors import Error
from spotthebot.kit.logs import get_logger

_IDLE_SECONDS = 1.0
_MAX_HEARTBEATS = 8
_log = get_logger(__name__)


async def probe_bot(workshop: Workshop, principal: Principal, bot_id: UUID) -> ProbeOut:
    """Probe a bot now; no database connection is held meanwhile. Its status becomes what the probe says."""
    async with workshop.database.read() as session:
        bot = await store.get_bot(session, bot_id, principal)
    with workshop.probing(principal.team):
        started_at = datetime.now(UTC)
        async with _asked(workshop, bot) as ask:
            report = await probe(ask, bot.limits, seconds=workshop.settings.probe_seconds)
    async with workshop.database.write() as session:
        return await _record(session, workshop, bot, ProbeTrigger.REQUEST, started_at, report)


async def probe_in_transaction(
    session: WriteSession, workshop: Workshop, bot: Bot, trigger: ProbeTrigger, started_at: datetime
) -> ProbeOut:
    """Probe a bot that only this transaction knows yet."""
    async with _asked(workshop, bot, session) as ask:
        report = await probe(ask, bot.limits, seconds=workshop.settings.probe_seconds)
    return await _record(session, workshop, bot, trigger, started_at, report)


async def keep_statuses_true(workshop: Workshop, stopping: asyncio.Event) -> None:
    """Probe whichever bots are due, eight at a time, until told to stop; any number of processes share the work.

    A probe that is cut short leaves its bot to whoever finds it next, once the lease on it is over.
    """
    lease = timedelta(seconds=2 * workshop.settings.probe_seconds)
    idle = min(_IDLE_SECONDS, workshop.settings.recovery_seconds)
    places = asyncio.Semaphore(_MAX_HEARTBEATS)
    running: set[asyncio.Task[None]] = set()
    while not stopping.is_set():
        await places.acquire()
        bot = await _claim_due(workshop, lease)
        if bot is None:
            places.release()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), idle)
            continue
        task = asyncio.create_task(_heartbeat(workshop, bot))
        running.add(task)
        task.add_done_callback(running.discard)
        task.add_done_callback(lambda _: places.release())
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def _claim_due(workshop: Workshop, lease: timedelta) -> Bot | None:
    try:
        async with workshop.database.write() as session:
            return await store.claim_due_probe(session, lease)
    except SQLAlchemyError as error:  # the database is away: the next round tries again
        _log.warning("heartbeat.failed", error=type(error).__name__)
        return None


async def _heartbeat(workshop: Workshop, bot: Bot) -> None:
    try:
        await _probe_due(workshop, bot)
    except (Error, SQLAlchemyError) as error:
        _log.warning("heartbeat.failed", bot=str(bot.id), error=str(error))


async def _probe_due(workshop: Workshop, bot: Bot) -> None:
    started_at = datetime.now(UTC)
    is_new = bot.status is BotStatus.PROBING
    async with _asked(workshop, bot) as ask:
        if is_new:
            report = await probe(ask, bot.limits, seconds=workshop.settings.probe_seconds)
        else:
            report = await heartbeat(ask, seconds=workshop.settings.probe_seconds)
    trigger = ProbeTrigger.REGISTRATION if is_new else ProbeTrigger.HEARTBEAT
    async with workshop.database.write() as session:
        await _record(session, workshop, bot, trigger, started_at, report)
    if report.passed != (bot.status is BotStatus.ACTIVE):
        _log.info("bot.status_changed", bot=str(bot.id), was=bot.status, passed=report.passed)


@asynccontextmanager
async def _asked(workshop: Workshop, bot: Bot, session: ReadSession | None = None) -> AsyncIterator[Ask]:
    """Give a way of asking that is a probe's own: what opens there counts in the report and nowhere else."""
    try:
        async with _session(workshop.database, session) as reading:
            model = await workshop.model_of(reading, bot, bot.version)
        line = workshop.lines.fresh(bot, bot.version, model)
    except Error as error:
        refusal = error.detail

        async def refuse(_context: Context) -> Reply:
            return Reply(None, ReplyFailure.UNREACHABLE, refusal, 0, 0.0)

        yield refuse
        return
    try:
        yield _never_open(line)
    finally:
        await line.speaker.close()


def _never_open(line: Line) -> Ask:
    async def ask(context: Context) -> Reply:
        line.circuit.close()
        try:
            return await line.reply(context)
        except Error as error:  # what our own side lacks: a corpus that changed, a peer that is away
            fault = Fault(ReplyFailure.UNREACHABLE, error.detail)
            return Reply(None, fault.failure, fault.detail, 1, 0.0)

    return ask


@asynccontextmanager
async def _session(database: Database, session: ReadSession | None) -> AsyncIterator[ReadSession]:
    if session is not None:
        yield session
        return
    async with database.read() as opened:
        yield opened


async def _record(
    session: WriteSession,
    workshop: Workshop,
    bot: Bot,
    trigger: ProbeTrigger,
    started_at: datetime,
    report: ProbeReport,
) -> ProbeOut:
    out = await store.record_probe(session, bot, trigger, started_at, report)
    failed = next((finding for finding in report.findings if finding.verdict is Verdict.FAILED), None)
    await store.set_status_by_probe(
        session,
        bot,
        reason=_reason(failed) if failed else None,
        next_in=workshop.heartbeat_of(bot.version),
        recovery=workshop.recovery,
    )
    return out


def _reason(finding: Finding) -> str:
    return f"{finding.check}: {finding.detail}"
