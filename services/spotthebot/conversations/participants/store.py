"""The only SQL over partner sets."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.conversations.participants.domain import Partner, PartnerSet
from spotthebot.conversations.participants.errors import NoSuchPartnerSet
from spotthebot.conversations.participants.tables import PartnerSetRow
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id


async def add_partner_set(
    session: WriteSession, *, name: str, description: str, partners: Sequence[Partner]
) -> PartnerSet:
    """Store the next version of a partner set."""
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"partner-set/{name}", 0))))
    latest = await session.scalar(select(func.max(PartnerSetRow.version)).where(PartnerSetRow.name == name))
    statement = insert(PartnerSetRow).values(
        id=new_id(),
        name=name,
        version=(latest or 0) + 1,
        description=description,
        partners=[asdict(each) | {"bot_id": str(each.bot_id)} for each in partners],
    )
    return _partner_set((await session.scalars(statement.returning(PartnerSetRow))).one())


async def get_partner_set(session: ReadSession, name: str, version: int) -> PartnerSet:
    statement = select(PartnerSetRow).where(PartnerSetRow.name == name, PartnerSetRow.version == version)
    row = await session.scalar(statement)
    if row is None:
        raise NoSuchPartnerSet(name=name, version=version)
    return _partner_set(row)


async def list_partner_sets(
    session: ReadSession, *, name: str | None, after: UUID | None, limit: int
) -> list[PartnerSet]:
    statement = select(PartnerSetRow).order_by(PartnerSetRow.id).limit(limit)
    if name is not None:
        statement = statement.where(PartnerSetRow.name == name)
    if after is not None:
        statement = statement.where(PartnerSetRow.id > after)
    return [_partner_set(row) for row in await session.scalars(statement)]


def _partner_set(row: PartnerSetRow) -> PartnerSet:
    return from_row(
        PartnerSet, row, partners=tuple(Partner(**each | {"bot_id": UUID(each["bot_id"])}) for each in row.partners)
    )
