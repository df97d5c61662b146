"""Packages and their segments."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import and_, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.domain.packages import NewPackage, Package, PackedSegment
from spotthebot.annotation.tables import PackageRow, SegmentRow
from spotthebot.annotation.tables import ShownConversationRow as ShownRow
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_ids


async def add_packages(session: WriteSession, campaign_id: UUID, packages: Sequence[NewPackage]) -> int:
    """Store packages, in order; those whose external id is known stay as they are. Returns how many are new."""
    rows = [
        {"id": row_id, "campaign_id": campaign_id, "external_id": package.external_id, "block": package.block}
        for row_id, package in zip(new_ids(len(packages)), packages, strict=True)
    ]
    statement = insert(PackageRow).values(rows).on_conflict_do_nothing().returning(PackageRow.id)
    stored = set(await session.scalars(statement))
    segments = [
        {
            "campaign_id": campaign_id,
            "package_id": row["id"],
            "conversation_id": segment.conversation_id,
            "exchanges": segment.exchanges,
            "position": position,
        }
        for row, package in zip(rows, packages, strict=True)
        if row["id"] in stored
        for position, segment in enumerate(package.segments)
    ]
    if segments:
        ids = new_ids(len(segments))
        await session.execute(
            insert(SegmentRow), [{"id": row_id, **row} for row_id, row in zip(ids, segments, strict=True)]
        )
    return len(stored)


async def packages_by_segment(session: ReadSession, campaign_id: UUID) -> dict[tuple[UUID, int], str | None]:
    """Return which package, by its external id, shows each (conversation, exchanges)."""
    statement = (
        select(SegmentRow.conversation_id, SegmentRow.exchanges, PackageRow.external_id)
        .join(PackageRow, PackageRow.id == SegmentRow.package_id)
        .where(SegmentRow.campaign_id == campaign_id)
    )
    return {(row_id, exchanges): external for row_id, exchanges, external in await session.execute(statement)}


async def segments_by_external_id(
    session: ReadSession, campaign_id: UUID, packages: set[str]
) -> dict[tuple[str, str, int], UUID]:
    """Return segment ids by (package, conversation, exchanges), of the named packages."""
    statement = (
        select(PackageRow.external_id, ShownRow.external_id, SegmentRow.exchanges, SegmentRow.id)
        .select_from(SegmentRow)
        .join(PackageRow, PackageRow.id == SegmentRow.package_id)
        .join(
            ShownRow,
            and_(
                ShownRow.campaign_id == SegmentRow.campaign_id, ShownRow.conversation_id == SegmentRow.conversation_id
            ),
        )
        .where(PackageRow.campaign_id == campaign_id, PackageRow.external_id.in_(packages))
    )
    rows = await session.execute(statement)
    return {
        (package, conversation, exchanges): segment_id
        for package, conversation, exchanges, segment_id in rows
        if package is not None and conversation is not None
    }


async def list_packages(session: ReadSession, campaign_id: UUID, *, after: UUID | None, limit: int) -> list[Package]:
    """Return packages with their segments, oldest first."""
    statement = select(PackageRow).where(PackageRow.campaign_id == campaign_id).order_by(PackageRow.id).limit(limit)
    if after is not None:
        statement = statement.where(PackageRow.id > after)
    rows = (await session.scalars(statement)).all()
    content: dict[UUID, list[PackedSegment]] = {row.id: [] for row in rows}
    segments = (
        select(SegmentRow)
        .where(SegmentRow.package_id.in_(content))
        .order_by(SegmentRow.package_id, SegmentRow.position)
    )
    for segment in await session.scalars(segments):
        content[segment.package_id].append(PackedSegment(segment.conversation_id, segment.exchanges))
    return [Package(row.id, row.external_id, tuple(content[row.id])) for row in rows]
