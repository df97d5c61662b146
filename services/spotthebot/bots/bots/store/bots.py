"""SQL over bots and their statuses."""

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Integer, Uuid, any_, bindparam, case, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.bots.bots.domain import INITIAL, TRANSITIONS, Bot, BotVersion, StatusEvent
from spotthebot.bots.bots.errors import BotNameLooksAlike, BotNameTaken, NoSuchBot
from spotthebot.bots.bots.store import versions as versions_store
from spotthebot.bots.bots.tables import BotRow, BotVersionRow
from spotthebot.contracts.access import Role
from spotthebot.contracts.bots.probes import ProbeReport
from spotthebot.contracts.bots.registry import BotId, BotIn, BotStatus, Limits
from spotthebot.contracts.names import find_look_alike
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statement_pool import StatementPool
from spotthebot.kit.database.statements import Runner, Statement
from spotthebot.kit.ids import new_id

_FIRST = UUID(int=0)
MAX_REASON = 1000
_LOCK_NAMES = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


async def add_bot(session: WriteSession, request: BotIn, *, team: str | None, probe_in: timedelta) -> BotId:
    """Store a bot without a version, to be probed after `probe_in`.

    Raises BotNameTaken and BotNameLooksAlike, but compares only names of the same team, so that a team learns no names
    of other teams. Collections refuse similar names of different teams.
    """
    await session.execute(_LOCK_NAMES, {"name": f"bot-names/{team}"})
    names = await session.scalars(select(BotRow.name).where(BotRow.team.is_not_distinct_from(team)))
    if (other := find_look_alike(request.name, names)) is not None:
        raise BotNameLooksAlike(name=request.name, other=other)
    statement = (
        insert(BotRow)
        .values(
            id=new_id(),
            name=request.name,
            team=team,
            description=request.description,
            domains=list(request.domains),
            limits=request.limits.model_dump(mode="json"),
            public=request.public,
            status=INITIAL,
            version=0,
            next_probe_at=func.now() + probe_in,
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
    """Return a bot that exists, for the service itself; no caller's rights are checked."""
    return _bot((await session.execute(_BY_ID, {"bot_id": bot_id})).one())


async def find_bots(statements: StatementPool, bot_ids: Sequence[UUID]) -> dict[UUID, Bot]:
    """Return the existing bots among these ids, of all teams."""
    bots = map(_bot, await statements.fetch(_BY_IDS, {"bot_ids": list(bot_ids)}))
    return {bot.id: bot for bot in bots}


async def list_bots(
    runner: Runner,
    principal: Principal,
    *,
    name: str | None,
    team: str | None = None,
    after: UUID | None,
    limit: int,
) -> Sequence[Bot]:
    """Return the bots that the caller may see, oldest first; `name` and `team` must match exactly."""
    if principal.role == Role.TEAM:
        if team not in {None, principal.team}:
            return []
        team = principal.team
    lookup = _lookup_of_lists(by_name=name is not None, of_team=team is not None or principal.role == Role.TEAM)
    parameters = {"name": name, "team": team, "after": after or _FIRST, "limit": limit}
    return [_bot(row) for row in await runner.fetch(lookup, parameters)]


async def count_by_status(session: ReadSession) -> dict[str, int]:
    """Count all bots by status; a status without bots is left out."""
    counted = await session.execute(select(BotRow.status, func.count().label("number")).group_by(BotRow.status))
    return {row.status: row.number for row in counted}


async def change_bot(session: WriteSession, bot_id: UUID, changes: dict[str, Any]) -> None:
    """Set columns of a bot other than its status, which `change_status` sets."""
    await session.execute(update(BotRow).where(BotRow.id == bot_id).values(**changes))


async def change_status(
    session: WriteSession, bot_id: UUID, event: StatusEvent, *, version: int | None = None, **values: object
) -> BotStatus | None:
    """Apply an event to a bot's status and set other `values`, if the present status allows the event.

    With `version`, change nothing unless this version is the bot's present version. Return the new status; None if
    nothing changed.
    """
    transitions = TRANSITIONS[event]
    statement = update(BotRow).where(BotRow.id == bot_id, BotRow.status.in_(transitions))
    if version is not None:
        statement = statement.where(BotRow.version == version)
    new_status = case(dict(transitions), value=BotRow.status)
    status = await session.scalar(statement.values(status=new_status, **values).returning(BotRow.status))
    return None if status is None else BotStatus(status)


async def begin_version(session: WriteSession, bot_id: UUID, *, probe_in: timedelta) -> BotStatus | None:
    """Make a bot wait for the probe of its next version; return None if it is retired.

    A heartbeat probes the version after `probe_in`; a suspended bot gets no heartbeat.
    """
    event = StatusEvent.VERSION_ADDED
    probed = [old for old, new in TRANSITIONS[event].items() if new in TRANSITIONS[StatusEvent.PROBE_PASSED]]
    next_probe_at = case((BotRow.status.in_(probed), func.now() + probe_in), else_=BotRow.next_probe_at)
    return await change_status(
        session, bot_id, event, status_reason=None, next_probe_at=next_probe_at, paused_until=None
    )


async def activate_bot(session: WriteSession, bot_id: UUID) -> BotStatus | None:
    """Activate a bot for its owner; a suspended bot is probed at once. Return None if it is retired."""
    resumed = [old for old, new in TRANSITIONS[StatusEvent.ACTIVATED].items() if old is not new]
    next_probe_at = case((BotRow.status.in_(resumed), func.now()), else_=BotRow.next_probe_at)
    return await change_status(session, bot_id, StatusEvent.ACTIVATED, next_probe_at=next_probe_at, paused_until=None)


async def stop_bot(session: WriteSession, bot_id: UUID, event: StatusEvent) -> BotStatus | None:
    """Suspend or retire a bot for its owner, and stop its probes. Return None if it is retired already."""
    return await change_status(session, bot_id, event, status_reason=None, next_probe_at=None)


async def open_circuit(session: WriteSession, bot_id: UUID, reason: str, probe_in: timedelta) -> None:
    """Set an active bot failing because its circuit opened."""
    await change_status(
        session,
        bot_id,
        StatusEvent.CIRCUIT_OPENED,
        status_reason=reason[:MAX_REASON],
        failed_probes=0,
        next_probe_at=func.now() + probe_in,
    )


async def fail_bots_of_model(session: WriteSession, model: str, files_sha256: str | None, reason: str) -> list[UUID]:
    """Set bots failing if their version was registered with other files of a hosted model; return their ids.

    The bots that fail now are probed in an hour. A failing bot whose registered files are there again is probed at
    once.
    """
    transitions = TRANSITIONS[StatusEvent.MODEL_CHANGED]
    version = BotVersionRow
    on_model = (
        (version.bot_id == BotRow.id)
        & (version.number == BotRow.version)
        & (version.protocol["model"].astext == model)
        & version.files_sha256.is_not(None)
        & or_(
            version.protocol["kind"].astext == "transformers",
            (version.protocol["kind"].astext == "triton") & (version.protocol["url"].astext.is_(None)),
        )
    )
    has_other_files = version.files_sha256.is_distinct_from(files_sha256)
    failed = await session.scalars(
        update(BotRow)
        .where(on_model, has_other_files, BotRow.status.in_(transitions))
        .values(
            status=case(dict(transitions), value=BotRow.status),
            status_reason=reason[:MAX_REASON],
            next_probe_at=func.now() + timedelta(hours=1),
        )
        .returning(BotRow.id)
    )
    await session.execute(
        update(BotRow)
        .where(on_model, ~has_other_files, BotRow.status == BotStatus.FAILING)
        .values(next_probe_at=func.now())
    )
    return list(failed)


async def pause_bot(session: WriteSession, bot_id: UUID, wait: timedelta) -> None:
    """Keep all processes from asking a bot for `wait`; its next probe waits as long."""
    until = func.greatest(BotRow.paused_until, func.now() + wait)
    next_probe_at = case((BotRow.next_probe_at.is_not(None), func.greatest(BotRow.next_probe_at, func.now() + wait)))
    await session.execute(
        update(BotRow).where(BotRow.id == bot_id).values(paused_until=until, next_probe_at=next_probe_at)
    )


_PRESENT = select(
    BotRow.id,
    BotRow.name,
    BotRow.team,
    BotRow.description,
    BotRow.domains,
    BotRow.limits,
    BotRow.public,
    BotRow.status,
    BotRow.status_reason,
    BotRow.paused_until,
    BotRow.probe,
    BotRow.created_at,
    BotVersionRow.id.label("version_id"),
    BotVersionRow.number,
    BotVersionRow.protocol,
    BotVersionRow.sealed_secret,
    BotVersionRow.training_sha256,
    BotVersionRow.files_sha256,
    BotVersionRow.configuration_sha256,
    BotVersionRow.created_at.label("version_created_at"),
).join(BotVersionRow, (BotVersionRow.bot_id == BotRow.id) & (BotVersionRow.number == BotRow.version))
"""Bots with their present versions. It selects columns, not entities, because nearly every request reads them."""
_BY_ID = _PRESENT.where(BotRow.id == bindparam("bot_id"))
_BY_IDS = Statement(_PRESENT.where(BotRow.id == any_(bindparam("bot_ids", type_=ARRAY(Uuid)))))


@cache
def _lookup_of_lists(*, by_name: bool, of_team: bool) -> Statement:
    statement = _PRESENT.where(BotRow.id > bindparam("after", type_=Uuid)).order_by(BotRow.id)
    if by_name:
        statement = statement.where(BotRow.name == bindparam("name"))
    if of_team:
        statement = statement.where(BotRow.team == bindparam("team"))
    return Statement(statement.limit(bindparam("limit", type_=Integer)))


def _bot(row: Any) -> Bot:  # noqa: ANN401 - SQLAlchemy's row of these columns, or psycopg's
    return from_row(
        Bot,
        row,
        domains=tuple(row.domains),
        limits=Limits.model_validate(row.limits),
        status=BotStatus(row.status),
        version=from_row(
            BotVersion,
            row,
            id=row.version_id,
            protocol=versions_store.protocol_of(row.protocol),
            created_at=row.version_created_at,
        ),
        probe=ProbeReport.model_validate(row.probe) if row.probe else None,
    )
