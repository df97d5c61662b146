"""The only SQL over bots, their versions and probes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import Row, Select, bindparam, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.bots.domain.bots import Bot, BotVersion, Fingerprints, fingerprint_configuration
from spotthebot.bots.domain.errors import BotNameTaken, NoSuchBot, NoSuchVersion
from spotthebot.bots.tables import BotRow, BotVersionRow, ProbeRow
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots import (
    BotId,
    BotIn,
    BotStatus,
    Limits,
    ProbeOut,
    ProbeReport,
    ProbeTrigger,
    Protocol,
)
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id

_KEPT_PROBES = 100
_MAX_DOUBLINGS = 16
_protocols: TypeAdapter[Protocol] = TypeAdapter(Protocol)


async def add_bot(session: WriteSession, wanted: BotIn, *, team: str | None) -> BotId:
    """Store a bot without a version; raises BotNameTaken where its team has one of that name."""
    statement = (
        insert(BotRow)
        .values(
            id=new_id(),
            name=wanted.name,
            team=team,
            description=wanted.description,
            domains=list(wanted.domains),
            limits=wanted.limits.model_dump(mode="json"),
            status=BotStatus.PROBING,
            version=0,
        )
        .on_conflict_do_nothing()
        .returning(BotRow.id)
    )
    bot_id = await session.scalar(statement)
    if bot_id is None:
        raise BotNameTaken(name=wanted.name)
    return BotId(bot_id)


async def add_version(
    session: WriteSession, bot_id: UUID, protocol: Protocol, sealed_secret: bytes | None, made_from: Fingerprints
) -> None:
    """Store the next version of a bot, which becomes the present one."""
    number = await session.scalar(
        update(BotRow).where(BotRow.id == bot_id).values(version=BotRow.version + 1).returning(BotRow.version)
    )
    await session.execute(
        insert(BotVersionRow).values(
            id=new_id(),
            bot_id=bot_id,
            number=number,
            protocol=protocol.model_dump(mode="json"),
            sealed_secret=sealed_secret,
            training_sha256=made_from.training_sha256,
            files_sha256=made_from.files_sha256,
            configuration_sha256=fingerprint_configuration(protocol, made_from),
        )
    )


async def get_bot(session: ReadSession, bot_id: UUID, principal: Principal) -> Bot:
    """Return the bot if the caller may see it; raises NoSuchBot otherwise."""
    row = (await session.execute(_BY_ID, {"bot_id": bot_id})).first()
    if row is None or not (bot := _bot(row)).is_visible_to(principal):
        raise NoSuchBot(bot_id=bot_id)
    return bot


async def list_bots(
    session: ReadSession, principal: Principal, *, name: str | None, after: UUID | None, limit: int
) -> Sequence[Bot]:
    """Return the bots that the caller may see, oldest first."""
    statement = _present().order_by(BotRow.id).limit(limit)
    if principal.role == Role.TEAM:
        statement = statement.where(BotRow.team == principal.team)
    if name is not None:
        statement = statement.where(BotRow.name == name)
    if after is not None:
        statement = statement.where(BotRow.id > after)
    return [_bot(row) for row in await session.execute(statement)]


async def get_version(session: ReadSession, bot_id: UUID, number: int) -> BotVersion:
    """Return one version of a bot; raises NoSuchVersion."""
    statement = select(BotVersionRow).where(BotVersionRow.bot_id == bot_id, BotVersionRow.number == number)
    row = await session.scalar(statement)
    if row is None:
        raise NoSuchVersion(bot_id=bot_id, version=number)
    return _version(row)


async def list_versions(session: ReadSession, bot_id: UUID, *, after: UUID | None, limit: int) -> Sequence[BotVersion]:
    """Return a bot's versions, oldest first."""
    statement = select(BotVersionRow).where(BotVersionRow.bot_id == bot_id).order_by(BotVersionRow.id).limit(limit)
    if after is not None:
        statement = statement.where(BotVersionRow.id > after)
    return [_version(row) for row in await session.scalars(statement)]


async def change_bot(session: WriteSession, bot_id: UUID, changes: dict[str, Any]) -> None:
    await session.execute(update(BotRow).where(BotRow.id == bot_id).values(**changes))


async def replace_secret(session: WriteSession, version_id: UUID, sealed_secret: bytes) -> None:
    statement = update(BotVersionRow).where(BotVersionRow.id == version_id).values(sealed_secret=sealed_secret)
    await session.execute(statement)


async def mark_failing(session: WriteSession, bot_id: UUID, reason: str, probe_in: timedelta) -> None:
    """Open a bot's circuit, unless it is not active: a suspended bot stays suspended."""
    await session.execute(
        update(BotRow)
        .where(BotRow.id == bot_id, BotRow.status == BotStatus.ACTIVE)
        .values(
            status=BotStatus.FAILING,
            status_reason=reason[:1000],
            failed_probes=0,
            next_probe_at=func.now() + probe_in,
        )
    )


async def claim_due_probe(session: WriteSession, lease: timedelta) -> Bot | None:
    """Take the bot whose probe is most overdue; nobody else does before the lease is over. None where none is due."""
    due = (
        select(BotRow.id)
        .where(BotRow.next_probe_at <= func.now())
        .order_by(BotRow.next_probe_at)
        .limit(1)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    claimed = await session.scalar(
        update(BotRow).where(BotRow.id == due).values(next_probe_at=func.now() + lease).returning(BotRow.id)
    )
    if claimed is None:
        return None
    return _bot((await session.execute(_BY_ID, {"bot_id": claimed})).one())


async def record_probe(
    session: WriteSession, bot: Bot, trigger: ProbeTrigger, started_at: datetime, report: ProbeReport
) -> ProbeOut:
    """Store a probe's report, and keep the latest hundred of the bot."""
    out = ProbeOut(
        id=new_id(),
        bot_id=bot.id,
        version=bot.version.number,
        trigger=trigger,
        started_at=started_at,
        report=report,
    )
    await session.execute(insert(ProbeRow).values(**out.model_dump(exclude={"report"}), report=_json(report)))
    old = select(ProbeRow.id).where(ProbeRow.bot_id == bot.id).order_by(ProbeRow.id.desc()).offset(_KEPT_PROBES)
    await session.execute(delete(ProbeRow).where(ProbeRow.id.in_(old)))
    if trigger is not ProbeTrigger.HEARTBEAT:
        await change_bot(session, bot.id, {"probe": _json(report)})
    return out


async def set_status_by_probe(
    session: WriteSession, bot: Bot, *, reason: str | None, next_in: timedelta | None, recovery: timedelta
) -> None:
    """Set what a probe says: active, or failing for a reason; suspended and retired bots stay as they are.

    The next probe comes after `next_in` (None: never) for a bot that answers; for a failing one after `recovery`,
    doubled for each probe that failed before, but not later than `next_in` or an hour.
    """
    probed = BotRow.status.in_([BotStatus.PROBING, BotStatus.ACTIVE, BotStatus.FAILING])
    mine = update(BotRow).where(BotRow.id == bot.id, probed, BotRow.version == bot.version.number)
    if reason is None:
        due = None if next_in is None else func.now() + next_in
        values = {"status": BotStatus.ACTIVE, "status_reason": None, "failed_probes": 0, "next_probe_at": due}
        await session.execute(mine.values(**values))
        return
    wait = recovery * func.power(2, func.least(BotRow.failed_probes, _MAX_DOUBLINGS))
    await session.execute(
        mine.values(
            status=BotStatus.FAILING,
            status_reason=reason[:1000],
            failed_probes=BotRow.failed_probes + 1,
            next_probe_at=func.now() + func.least(wait, next_in or timedelta(hours=1)),
        )
    )


async def list_probes(session: ReadSession, bot_id: UUID, *, after: UUID | None, limit: int) -> Sequence[ProbeOut]:
    """Return a bot's probes, oldest first."""
    statement = select(ProbeRow).where(ProbeRow.bot_id == bot_id).order_by(ProbeRow.id).limit(limit)
    if after is not None:
        statement = statement.where(ProbeRow.id > after)
    return [
        ProbeOut(
            id=row.id,
            bot_id=row.bot_id,
            version=row.version,
            trigger=ProbeTrigger(row.trigger),
            started_at=row.started_at,
            report=ProbeReport.model_validate(row.report),
        )
        for row in await session.scalars(statement)
    ]


def _present() -> Select[BotRow, BotVersionRow]:
    return select(BotRow, BotVersionRow).join(
        BotVersionRow, (BotVersionRow.bot_id == BotRow.id) & (BotVersionRow.number == BotRow.version)
    )


_BY_ID = _present().where(BotRow.id == bindparam("bot_id"))  # made once: every request for replies begins with it


def _bot(row: Row[BotRow, BotVersionRow]) -> Bot:
    bot, version = row
    return Bot(
        id=BotId(bot.id),
        name=bot.name,
        team=bot.team,
        description=bot.description,
        domains=tuple(bot.domains),
        limits=Limits.model_validate(bot.limits),
        status=BotStatus(bot.status),
        status_reason=bot.status_reason,
        version=_version(version),
        probe=ProbeReport.model_validate(bot.probe) if bot.probe else None,
        created_at=bot.created_at,
    )


def _version(row: BotVersionRow) -> BotVersion:
    return BotVersion(
        id=row.id,
        number=row.number,
        protocol=_protocols.validate_python(row.protocol),
        sealed_secret=row.sealed_secret,
        training_sha256=row.training_sha256,
        files_sha256=row.files_sha256,
        configuration_sha256=row.configuration_sha256,
        created_at=row.created_at,
    )


def _json(report: ProbeReport) -> dict[str, Any]:
    return report.model_dump(mode="json")
