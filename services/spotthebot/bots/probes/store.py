"""SQL that stores probes, changes bots by their results, and claims due probes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, delete, func, insert, select, update

from spotthebot.bots.bots.domain import TRANSITIONS, Bot, StatusEvent
from spotthebot.bots.bots.store import bots as bots_store
from spotthebot.bots.bots.store.bots import MAX_REASON
from spotthebot.bots.bots.tables import BotRow
from spotthebot.bots.probes.domain.probes import Probe
from spotthebot.bots.probes.tables import ProbeRow
from spotthebot.contracts.bots.probes import ProbeReport, ProbeTrigger
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Runner, Statement, constant
from spotthebot.kit.ids import new_id

_KEPT_PROBES = 100
_MAX_DOUBLINGS = 16


def _select_due() -> Select[UUID]:
    statuses = [constant(status) for status in TRANSITIONS[StatusEvent.PROBE_PASSED]]
    return select(BotRow.id).where(BotRow.next_probe_at <= func.now(), BotRow.status.in_(statuses))


_DUE = Statement(_select_due().limit(1))


async def has_due_probe(runner: Runner) -> bool:
    """Return whether a probe is due. The statement is cheap, because it runs often."""
    return bool(await runner.fetch(_DUE, {}))


async def claim_due_probe(session: WriteSession, lease: timedelta) -> Bot | None:
    """Claim the bot with the most overdue probe until the lease ends; return None if no probe is due.

    Only bots whose status a probe can change are due.
    """
    due = _select_due().order_by(BotRow.next_probe_at).limit(1).with_for_update(skip_locked=True).scalar_subquery()
    claimed = await session.scalar(
        update(BotRow).where(BotRow.id == due).values(next_probe_at=func.now() + lease).returning(BotRow.id)
    )
    return None if claimed is None else await bots_store.get_known_bot(session, claimed)


async def add_probe(
    session: WriteSession, bot: Bot, trigger: ProbeTrigger, started_at: datetime, report: ProbeReport
) -> Probe:
    """Store a probe's report, and keep the bot's latest hundred reports."""
    probe = Probe(new_id(), bot.id, bot.version.number, trigger, started_at, report)
    await session.execute(insert(ProbeRow).values(**vars(probe) | {"report": _json(report)}))
    old = select(ProbeRow.id).where(ProbeRow.bot_id == bot.id).order_by(ProbeRow.id.desc()).offset(_KEPT_PROBES)
    await session.execute(delete(ProbeRow).where(ProbeRow.id.in_(old)))
    if trigger is not ProbeTrigger.HEARTBEAT:
        await bots_store.change_bot(session, bot.id, {"probe": _json(report)})
    return probe


async def list_probes(session: ReadSession, bot_id: UUID, *, after: UUID | None, limit: int) -> Sequence[Probe]:
    """Return a bot's probes, oldest first."""
    statement = select(ProbeRow).where(ProbeRow.bot_id == bot_id).order_by(ProbeRow.id).limit(limit)
    if after is not None:
        statement = statement.where(ProbeRow.id > after)
    return [
        from_row(Probe, row, trigger=ProbeTrigger(row.trigger), report=ProbeReport.model_validate(row.report))
        for row in await session.scalars(statement)
    ]


def _json(report: ProbeReport) -> dict[str, Any]:
    return report.model_dump(mode="json")


async def pass_probe(session: WriteSession, bot: Bot, *, next_in: timedelta | None) -> None:
    """Set a bot active because its probe passed; the next probe comes after `next_in` (None: never)."""
    await bots_store.change_status(
        session,
        bot.id,
        StatusEvent.PROBE_PASSED,
        version=bot.version.number,
        status_reason=None,
        failed_probes=0,
        next_probe_at=None if next_in is None else func.greatest(func.now() + next_in, BotRow.paused_until),
    )


async def fail_probe(
    session: WriteSession, bot: Bot, *, reason: str, next_in: timedelta | None, recovery: timedelta
) -> None:
    """Set a bot failing because its probe failed.

    The next probe comes after `recovery`, doubled for each probe that failed before. It comes after `next_in` at the
    latest, or after an hour if `next_in` is None.
    """
    wait = _doubled(recovery)
    await bots_store.change_status(
        session,
        bot.id,
        StatusEvent.PROBE_FAILED,
        version=bot.version.number,
        status_reason=reason[:MAX_REASON],
        failed_probes=BotRow.failed_probes + 1,
        next_probe_at=_after_pause(func.least(wait, next_in or timedelta(hours=1))),
    )


async def put_probe_off(session: WriteSession, bot: Bot, *, reason: str, recovery: timedelta) -> None:
    """Leave a bot's status unchanged after a probe that the rate limit of the bot's server ended.

    The next probe comes when the server allows requests again, but not earlier than it would come after a failed probe.
    """
    is_probed = BotRow.status.in_(TRANSITIONS[StatusEvent.PROBE_PASSED])
    await session.execute(
        update(BotRow)
        .where(BotRow.id == bot.id, BotRow.version == bot.version.number, is_probed)
        .values(
            status_reason=func.coalesce(BotRow.status_reason, reason[:MAX_REASON]),
            failed_probes=BotRow.failed_probes + 1,
            next_probe_at=_after_pause(func.least(_doubled(recovery), timedelta(hours=1))),
        )
    )


def _doubled(recovery: timedelta) -> ColumnElement[timedelta]:
    return recovery * func.power(2, func.least(BotRow.failed_probes, _MAX_DOUBLINGS))


def _after_pause(wait: ColumnElement[timedelta]) -> ColumnElement[datetime]:
    return func.greatest(func.now() + wait, BotRow.paused_until)
