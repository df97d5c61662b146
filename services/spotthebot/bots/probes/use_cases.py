"""Probes of bots: at registration, on request, and as heartbeats that keep their statuses true.

Heartbeats run in the service, since another process would load hosted models twice. Each team may run only a limited
number of probes at a time: this protects bots and this machine.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from spotthebot.bots.bot_client import BotClient
from spotthebot.bots.bots.domain import Bot
from spotthebot.bots.bots.store import bots as bots_store
from spotthebot.bots.context import BotsContext
from spotthebot.bots.probes import store
from spotthebot.bots.probes.domain.conformance import SAMPLES_OF_OUR_MODELS, Ask, heartbeat, probe
from spotthebot.bots.probes.domain.probes import Probe
from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.contracts.bots.probes import ProbeReport, ProbeTrigger, Verdict
from spotthebot.contracts.bots.protocols import Protocol, TransformersProtocol, TritonProtocol
from spotthebot.contracts.bots.registry import BotStatus
from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database.sessions import DATABASE_TROUBLE, WriteSession
from spotthebot.kit.errors import Error
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.text.characters import printable

_IDLE_SECONDS = 1.0
_MAX_HEARTBEATS = 8
_log = get_logger(__name__)


async def probe_bot(context: BotsContext, principal: Principal, bot_id: UUID) -> Probe:
    """Probe a bot now; the report decides the bot's status."""
    async with context.database.read() as session:
        bot = await bots_store.get_bot(session, bot_id, principal)
    with context.probing(principal.team):
        started_at = datetime.now(UTC)
        report = await run_probe(context, bot)
    async with context.database.write() as session:
        return await record_probe(session, context, bot, ProbeTrigger.REQUEST, started_at, report)


async def run_probe(context: BotsContext, bot: Bot) -> ProbeReport:
    """Return the report of a full probe; no database connection is held meanwhile."""
    async with _ask_of(context, bot) as ask:
        samples = SAMPLES_OF_OUR_MODELS if _is_ours(bot.version.protocol) else 0
        return await probe(ask, bot.limits, seconds=context.settings.probe_seconds, samples=samples)


def _is_ours(protocol: Protocol) -> bool:
    """Return whether the suite runs the model itself, so that many questions cost nobody else."""
    match protocol:
        case TransformersProtocol() | TritonProtocol(url=None):
            return True
    return False


async def keep_statuses_true(context: BotsContext, stopping: asyncio.Event) -> None:
    """Probe due bots, eight at a time, until `stopping` is set; any number of processes share the work.

    If a process dies during a probe, another process claims the bot when the lease ends.
    """
    idle = min(_IDLE_SECONDS, context.settings.recovery_seconds)
    slots = asyncio.Semaphore(_MAX_HEARTBEATS)
    running: set[asyncio.Task[None]] = set()
    while not stopping.is_set():
        await slots.acquire()
        bot = await _claim_due(context)
        if bot is None:
            slots.release()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), idle)
            continue
        task = asyncio.create_task(_heartbeat(context, bot))
        running.add(task)
        task.add_done_callback(running.discard)
        task.add_done_callback(lambda _: slots.release())
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def _claim_due(context: BotsContext) -> Bot | None:
    try:
        if not await store.has_due_probe(context.database):
            return None
        async with context.database.write() as session:
            return await store.claim_due_probe(session, context.probe_lease)
    except (SQLAlchemyError, *DATABASE_TROUBLE) as error:  # the database is unavailable: the next round tries again
        _log.warning("heartbeat.failed", error=type(error).__name__)
        return None


async def _heartbeat(context: BotsContext, bot: Bot) -> None:
    try:
        await _probe_due(context, bot)
    except (Error, SQLAlchemyError) as error:
        _log.warning("heartbeat.failed", bot=str(bot.id), error=str(error))
    except Exception:  # noqa: BLE001 - one of our own, with which the bot would be probed no more without a word
        _log.exception("heartbeat.failed", bot=str(bot.id))


async def _probe_due(context: BotsContext, bot: Bot) -> None:
    started_at = datetime.now(UTC)
    is_new = bot.status is BotStatus.PROBING
    if is_new:
        report = await run_probe(context, bot)
    else:
        async with _ask_of(context, bot) as ask:
            report = await heartbeat(ask, seconds=context.settings.probe_seconds)
    trigger = ProbeTrigger.REGISTRATION if is_new else ProbeTrigger.HEARTBEAT
    async with context.database.write() as session:
        await record_probe(session, context, bot, trigger, started_at, report)
    if report.passed != (bot.status is BotStatus.ACTIVE):
        _log.info("bot.status_changed", bot=str(bot.id), was=bot.status, passed=report.passed)


@asynccontextmanager
async def _ask_of(context: BotsContext, bot: Bot) -> AsyncIterator[Ask]:
    """Yield the function that asks a bot for one probe. Its failures are reported, and open no circuit."""
    try:
        async with context.database.read() as session:
            model = await context.model_of(session, bot, bot.version)
        client = context.clients.make(bot, bot.version, model)
    except Error as error:
        refusal = error.detail

        async def refuse(_question: Context) -> ReplyOut:
            return ReplyOut.failed(ReplyFailure.UNREACHABLE, refusal)

        yield refuse
        return
    try:
        yield _without_circuit(client)
    finally:
        await client.speaker.close()


def _without_circuit(client: BotClient) -> Ask:
    async def ask(question: Context) -> ReplyOut:
        client.circuit.close()
        try:
            return await client.reply(question)
        except Error as error:  # the version can't be asked any more, e.g. its corpus has changed
            return ReplyOut.failed(ReplyFailure.UNREACHABLE, printable(error.detail), attempts=1)

    return ask


async def record_probe(
    session: WriteSession,
    context: BotsContext,
    bot: Bot,
    trigger: ProbeTrigger,
    started_at: datetime,
    report: ProbeReport,
) -> Probe:
    """Store a probe; by its report, set the bot active or failing, or leave its status."""
    out = await store.add_probe(session, bot, trigger, started_at, report)
    failed = next((finding for finding in report.findings if finding.verdict is Verdict.FAILED), None)
    next_in = context.heartbeat_of(bot.version)
    if report.put_off:
        reason = report.findings[0].detail
        await store.put_probe_off(session, bot, reason=reason, recovery=context.recovery)
    elif failed is None:
        await store.pass_probe(session, bot, next_in=next_in)
    else:
        reason = f"{failed.check}: {failed.detail}"
        _log.warning("bot.probe_failed", bot=bot.name, id=str(bot.id), trigger=trigger, reason=reason)
        await store.fail_probe(session, bot, reason=reason, next_in=next_in, recovery=context.recovery)
    return out
