"""Stored versions of judges."""

from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.judges.domain import JudgeVersion, sha256_of
from spotthebot.annotation.judges.errors import NoSuchJudge
from spotthebot.annotation.judges.tables import JudgeRow
from spotthebot.contracts.annotation.judges import JudgeIn, JudgeSettings
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id

_SETTINGS: TypeAdapter[JudgeSettings] = TypeAdapter(JudgeSettings)


async def add_judge(session: WriteSession, judge: JudgeIn) -> JudgeVersion:
    """Store a judge's next version, unless a version has these settings already; return the version that has them."""
    lock = text("SELECT pg_advisory_xact_lock(hashtextextended('annotation.judges/' || :name, 0))")
    await session.execute(lock, {"name": judge.name})
    sha256 = sha256_of(judge.settings)
    known = await session.scalar(select(JudgeRow).where(JudgeRow.name == judge.name, JudgeRow.sha256 == sha256))
    if known is not None:
        return _version(known)
    newest = await session.scalar(select(func.max(JudgeRow.version)).where(JudgeRow.name == judge.name))
    values = judge.model_dump(mode="json") | {"id": new_id(), "version": (newest or 0) + 1, "sha256": sha256}
    added = await session.execute(insert(JudgeRow).values(values).returning(JudgeRow))
    return _version(added.scalar_one())


async def find_judge(session: ReadSession, name: str, version: int) -> JudgeVersion | None:
    """Return a version of a judge, if there is one."""
    row = await session.scalar(select(JudgeRow).where(JudgeRow.name == name, JudgeRow.version == version))
    return None if row is None else _version(row)


async def get_judge(session: ReadSession, name: str, version: int) -> JudgeVersion:
    found = await find_judge(session, name, version)
    if found is None:
        raise NoSuchJudge(name=name, version=version)
    return found


async def list_judges(session: ReadSession, *, name: str | None, after: UUID | None, limit: int) -> list[JudgeVersion]:
    """List versions of judges, oldest first."""
    statement = select(JudgeRow).order_by(JudgeRow.id).limit(limit)
    if name is not None:
        statement = statement.where(JudgeRow.name == name)
    if after is not None:
        statement = statement.where(JudgeRow.id > after)
    return [_version(row) for row in await session.scalars(statement)]


def _version(row: JudgeRow) -> JudgeVersion:
    return from_row(JudgeVersion, row, settings=_SETTINGS.validate_python(row.settings))
