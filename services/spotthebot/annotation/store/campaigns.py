"""Campaigns and how much of them is done."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import Select, func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.domain.campaigns import Campaign, Progress, states_before
from spotthebot.annotation.domain.errors import NoSuchCampaign
from spotthebot.annotation.tables import AnnotationRow, AssignmentRow, CampaignRow, PackageRow, SegmentRow
from spotthebot.contracts.annotation import SECRET_BYTES, AssignmentState, CampaignId, CampaignIn, CampaignState
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id


async def add_campaign(session: WriteSession, request: CampaignIn) -> Campaign:
    campaign_id = new_id()
    secret = bytes.fromhex(request.secret.get_secret_value()) if request.secret else None
    values = request.model_dump() | {"segments": [*request.segments], "secret": secret}
    await session.execute(insert(CampaignRow).values(id=campaign_id, state=CampaignState.BUILDING, **values))
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


async def list_building(session: ReadSession) -> list[UUID]:
    """Return the ids of campaigns whose packages are not made yet, oldest first."""
    statement = select(CampaignRow.id).where(CampaignRow.state == CampaignState.BUILDING)
    return [*await session.scalars(statement.order_by(CampaignRow.id))]


async def lock_campaign(session: WriteSession, campaign_id: UUID) -> None:
    """Let one transaction at a time build a campaign, add to it or complete it; annotations of it are not held up."""
    await session.execute(select(CampaignRow.id).where(CampaignRow.id == campaign_id).with_for_update(key_share=True))


async def get_secret(session: WriteSession, campaign_id: UUID) -> bytes:
    """Return what a campaign's draws are mixed with; it is drawn now unless the owner gave one."""
    drawn = secrets.token_bytes(SECRET_BYTES)
    statement = (
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id)
        .values(secret=func.coalesce(CampaignRow.secret, drawn))
        .returning(CampaignRow.secret)
    )
    return await session.scalar(statement) or drawn


async def count_too_short(session: WriteSession, campaign_id: UUID, conversations: int) -> None:
    """Note how many conversations a campaign does not show, as they are too short."""
    await session.execute(update(CampaignRow).where(CampaignRow.id == campaign_id).values(too_short=conversations))


async def open_campaign(session: WriteSession, campaign_id: UUID) -> None:
    """Open a campaign whose packages are there."""
    await _move(session, campaign_id, CampaignState.OPEN, built_at=datetime.now(UTC))


async def fail_campaign(session: WriteSession, campaign_id: UUID, failure: str) -> None:
    """Note that no packages could be made, and why."""
    await _move(session, campaign_id, CampaignState.FAILED, failure=failure)


async def complete_campaign(session: WriteSession, campaign_id: UUID) -> None:
    """Complete a campaign that has all its annotations."""
    await _move(session, campaign_id, CampaignState.COMPLETE)


async def close_campaign(session: WriteSession, campaign_id: UUID) -> None:
    """Complete a campaign whatever is missing; one that is complete or failed stays as it is."""
    await _move(session, campaign_id, CampaignState.COMPLETE, closed_at=datetime.now(UTC))


async def _move(session: WriteSession, campaign_id: UUID, state: CampaignState, **values: object) -> None:
    """Bring a campaign to `state`, unless it is in a state that may not be followed by it."""
    await session.execute(
        update(CampaignRow)
        .where(CampaignRow.id == campaign_id, CampaignRow.state.in_(states_before(state)))
        .values(state=state, **values)
    )


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
            state=CampaignState(row.state),
            failure=row.failure,
            too_short=row.too_short,
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
