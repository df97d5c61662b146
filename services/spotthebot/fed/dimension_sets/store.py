"""Users' dimension sets."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import select, text

from spotthebot.fed.dimension_sets.domain.dimension_sets import DimensionSetVersion
from spotthebot.fed.dimension_sets.domain.dimensions import Dimension, user_dimension, user_dimensions
from spotthebot.fed.dimension_sets.tables import DimensionSetRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('fed.dimension_sets:' || :name, 0))")


async def add_version(session: WriteSession, name: str, dimensions: Sequence[Dimension]) -> DimensionSetVersion:
    """Store dimensions as the next version of a name. If they equal its latest version, return that version."""
    await session.execute(_LOCK, {"name": name})
    latest = await _find(session, name, None)
    if latest is not None and latest.dimensions.dimensions == tuple(dimensions):
        return latest
    row = DimensionSetRow(
        id=new_id(),
        name=name,
        version=1 if latest is None else latest.version + 1,
        dimensions=[
            {"name": each.name, "positive": list(each.positive), "negative": list(each.negative)} for each in dimensions
        ],
        created_at=datetime.now(UTC),
    )
    session.add(row)
    await session.flush()
    return _version(row)


async def find_version(session: ReadSession, name: str, version: int) -> DimensionSetVersion | None:
    """Return a version of a user's dimension set; None if it does not exist."""
    return await _find(session, name, version)


async def list_versions(
    session: ReadSession, *, name: str | None, after: UUID | None, limit: int
) -> list[tuple[UUID, DimensionSetVersion]]:
    """List versions of users' dimension sets with their ids, oldest first."""
    statement = select(DimensionSetRow).order_by(DimensionSetRow.id).limit(limit)
    if name is not None:
        statement = statement.where(DimensionSetRow.name == name)
    if after is not None:
        statement = statement.where(DimensionSetRow.id > after)
    return [(row.id, _version(row)) for row in await session.scalars(statement)]


async def _find(session: ReadSession, name: str, version: int | None) -> DimensionSetVersion | None:
    statement = select(DimensionSetRow).where(DimensionSetRow.name == name)
    if version is not None:
        statement = statement.where(DimensionSetRow.version == version)
    row = (await session.scalars(statement.order_by(DimensionSetRow.version.desc()).limit(1))).one_or_none()
    return None if row is None else _version(row)


def _version(row: DimensionSetRow) -> DimensionSetVersion:
    dimensions = [user_dimension(each["name"], each["positive"], each["negative"]) for each in row.dimensions]
    return DimensionSetVersion(user_dimensions(row.name, dimensions), row.version, row.created_at)
