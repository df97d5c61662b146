"""SQL over bots and their statuses."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, bindparam, func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.bots.domain.bots import Bot
from spotthebot.bots.domain.errors import BotNameTaken, NoSuchBot
from spotthebot.bots.store.versions import version_of
from spotthebot.bots.tables import BotRow, BotVersionRow
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots import BotId, BotIn, BotStatus, Limits, ProbeReport
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id

_MAX_DOUBLINGS = 16


async def add_bot(session: WriteSession, request: BotIn, *, team: str | None) -> BotId:
    """Store a bot without a version; raises BotNameTaken if its team has another of that name."""
    statement = (
        insert(BotRow)
        .values(
            id=new_id(),
            name=request.name,
            team=team,
            description=request.description,
            domains=list(request.domains),
            limits=request.limits.model_dump(mode="json"),
            status=BotStatus.PROBING,
            version=0,
        )
        .on_conflict_do_nothing()
        .returning(BotRow.id)
    )
    bot_id = await session.scalar(statement)
    if bot_id is None:
        raise BotNameTaken(name=request.name)
    return BotId(bot_id)


async def get_bot(session: ReadSession, bot_id: UUID, principal: Principal) -> Bot:
    """Return the bot if the caller may see it; raises NoSuchBot otherwise."""
    row = (await session.execute(_BY_ID, {"bot_id": bot_id})).first()
    if row is None or not (bot := _bot(row)).is_visible_to(principal):
        raise NoSuchBot(bot_id=bot_id)
    return bot


async def get_known_bot(session: ReadSession, bot_id: UUID) -> Bot:
    """Return a bot that is there, for the service itself: no caller is checked."""
    return _bot((await session.execute(_BY_ID, {"bot_id": bot_id})).one())


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


async def change_bot(session: WriteSession, bot_id: UUID, changes: dict[str, Any]) -> None:
    await session.execute(update(BotRow).where(BotRow.id == bot_id).values(**changes))


async def mark_failing(session: WriteSession, bot_id: UUID, reason: str, probe_in: timedelta) -> None:
    """Set an active bot failing because its circuit opened; a suspended bot stays suspended."""
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


async def set_status_by_probe(
    session: WriteSession, bot: Bot, *, reason: str | None, next_in: timedelta | None, recovery: timedelta
) -> None:
    """Set a bot active, or failing for a reason, after a probe; suspended and retired bots keep their status.

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
        version=version_of(version),
        probe=ProbeReport.model_validate(bot.probe) if bot.probe else None,
        created_at=bot.created_at,
    )
