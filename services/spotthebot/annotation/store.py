"""The only SQL over campaigns and what they show; claims and annotations are in `store_judging`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import Select, func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.domain.campaigns import Campaign, Progress, ShownConversation
from spotthebot.annotation.domain.errors import NoSuchCampaign
from spotthebot.annotation.domain.packaging import PackedSegment
from spotthebot.annotation.tables import AnnotationRow, AssignmentRow, CampaignRow, PackageRow, SegmentRow
from spotthebot.annotation.tables import ShownConversationRow as ShownRow
from spotthebot.contracts.annotation import AssignmentState, CampaignId, CampaignIn, PackageOut, SegmentRef
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids


async def add_campaign(session: WriteSession, request: CampaignIn) -> Campaign:
    campaign_id = new_id()
    values = request.model_dump()
    await session.execute(insert(CampaignRow).values(id=campaign_id, **values | {"segments": [*request.segments]}))
    return await get_campaign(session, campaign_id)


async def get_campaign(session: ReadSession, campaign_id: UUID) -> Campaign:
    campaigns = await _campaigns(session, select(CampaignRow).where(CampaignRow.id == campaign_id))
    if not campaigns:
        raise NoSuchCampaign(campaign_id=campaign_id)
    return campaigns[0]


async def list_campaigns(session: ReadSession, *, name: str | None, after: UUID | None, limit: int) -> list[Campaign]:
    statement = select(CampaignRow).order_by(CampaignRow.id).limit(limit)
    if name is not None:
        statement = statement.where(CampaignRow.name == name)
    if after is not None:
        statement = statement.where(CampaignRow.id > after)
    return await _campaigns(session, statement)


async def lock_campaign(session: WriteSession, campaign_id: UUID) -> None:
    """Let one transaction at a time build a campaign or add to it."""
    await session.execute(select(CampaignRow.id).where(CampaignRow.id == campaign_id).with_for_update())


async def mark_built(session: WriteSession, campaign_id: UUID) -> None:
    await session.execute(update(CampaignRow).where(CampaignRow.id == campaign_id).values(built_at=datetime.now(UTC)))


async def mark_failed(session: WriteSession, campaign_id: UUID, failure: str) -> None:
    await session.execute(update(CampaignRow).where(CampaignRow.id == campaign_id).values(failure=failure))


async def close_campaign(session: WriteSession, campaign_id: UUID) -> None:
    """Close for good; closing again changes nothing."""
    await session.execute(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id, CampaignRow.closed_at.is_(None))
        .values(closed_at=datetime.now(UTC))
    )


async def add_shown_conversations(
    session: WriteSession, campaign_id: UUID, conversations: Sequence[ShownConversation]
) -> None:
    rows = [
        {
            "campaign_id": campaign_id,
            "conversation_id": conversation.conversation_id,
            "external_id": conversation.external_id,
            "opening": [turn.model_dump() for turn in conversation.opening],
            "turns": [turn.model_dump() for turn in conversation.turns],
        }
        for conversation in conversations
    ]
    await session.execute(insert(ShownRow).on_conflict_do_nothing(), rows)


async def add_packages(
    session: WriteSession, campaign_id: UUID, packages: Sequence[tuple[str | None, Sequence[PackedSegment]]]
) -> int:
    """Store packages (external id, segments), in order; those whose external id is known stay. Returns how many."""
    rows = [
        {"id": row_id, "campaign_id": campaign_id, "external_id": external_id}
        for row_id, (external_id, _) in zip(new_ids(len(packages)), packages, strict=True)
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
        for row, (_, content) in zip(rows, packages, strict=True)
        if row["id"] in stored
        for position, segment in enumerate(content)
    ]
    if segments:
        ids = new_ids(len(segments))
        await session.execute(
            insert(SegmentRow), [{"id": row_id, **row} for row_id, row in zip(ids, segments, strict=True)]
        )
    return len(stored)


async def conversations_by_external_id(session: ReadSession, campaign_id: UUID) -> dict[str, tuple[UUID, int]]:
    """Return id and number of exchanges of the campaign's conversations."""
    statement = select(ShownRow.external_id, ShownRow.conversation_id, func.jsonb_array_length(ShownRow.turns)).where(
        ShownRow.campaign_id == campaign_id, ShownRow.external_id.is_not(None)
    )
    return {external: (row_id, turns // 2) for external, row_id, turns in await session.execute(statement)}


async def packages_by_segment(session: ReadSession, campaign_id: UUID) -> dict[tuple[UUID, int], str | None]:
    """Return which package, by its external id, shows each (conversation, exchanges)."""
    statement = (
        select(SegmentRow.conversation_id, SegmentRow.exchanges, PackageRow.external_id)
        .join(PackageRow, PackageRow.id == SegmentRow.package_id)
        .where(SegmentRow.campaign_id == campaign_id)
    )
    return {(row_id, exchanges): external for row_id, exchanges, external in await session.execute(statement)}


async def list_packages(session: ReadSession, campaign_id: UUID, *, after: UUID | None, limit: int) -> list[PackageOut]:
    """Return packages with what they hold, oldest first."""
    statement = select(PackageRow).where(PackageRow.campaign_id == campaign_id).order_by(PackageRow.id).limit(limit)
    if after is not None:
        statement = statement.where(PackageRow.id > after)
    rows = (await session.scalars(statement)).all()
    content: dict[UUID, list[SegmentRef]] = {row.id: [] for row in rows}
    segments = (
        select(SegmentRow)
        .where(SegmentRow.package_id.in_(content))
        .order_by(SegmentRow.package_id, SegmentRow.position)
    )
    for segment in await session.scalars(segments):
        ref = SegmentRef(conversation_id=segment.conversation_id, exchanges=segment.exchanges)
        content[segment.package_id].append(ref)
    return [PackageOut(id=row.id, external_id=row.external_id, segments=tuple(content[row.id])) for row in rows]


async def _campaigns(session: ReadSession, statement: Select[CampaignRow]) -> list[Campaign]:
    rows = (await session.scalars(statement)).all()
    ids = [row.id for row in rows]
    packages, segments, annotations, complete = [
        {campaign_id: count for campaign_id, count in await session.execute(counting)}  # noqa: C416 - typed rows
        for counting in (
            _count(PackageRow, ids),
            _count(SegmentRow, ids),
            _count(AnnotationRow, ids),
            _count(AssignmentRow, ids).where(AssignmentRow.state == AssignmentState.COMPLETE),
        )
    ]
    return [
        Campaign(
            id=CampaignId(row.id),
            name=row.name,
            domain=row.domain,
            collection_id=row.collection_id,
            mode=row.mode,
            segments=tuple(row.segments),
            annotations_per_segment=row.annotations_per_segment,
            package_size=row.package_size,
            instructions=row.instructions,
            seed=row.seed,
            created_at=row.created_at,
            built_at=row.built_at,
            closed_at=row.closed_at,
            failure=row.failure,
            progress=Progress(
                packages=packages.get(row.id, 0),
                segments=segments.get(row.id, 0),
                annotations=annotations.get(row.id, 0),
                complete_assignments=complete.get(row.id, 0),
            ),
        )
        for row in rows
    ]


def _count(
    table: type[PackageRow | SegmentRow | AnnotationRow | AssignmentRow], ids: Sequence[UUID]
) -> Select[UUID, int]:
    return select(table.campaign_id, func.count()).where(table.campaign_id.in_(ids)).group_by(table.campaign_id)
