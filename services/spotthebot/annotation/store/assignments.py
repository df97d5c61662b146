"""Claims of packages, and the assignments that they make."""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import and_, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import aliased

from spotthebot.annotation.domain.assignments import COUNTED, Assignment, ShownSegment, states_before
from spotthebot.annotation.domain.campaigns import Campaign
from spotthebot.annotation.domain.errors import NoSuchAssignment
from spotthebot.annotation.store.annotations import annotation_of
from spotthebot.annotation.tables import AnnotationRow, AssignmentRow, PackageRow, SegmentRow
from spotthebot.annotation.tables import ShownConversationRow as ShownRow
from spotthebot.contracts.annotation import AssignmentId, AssignmentState, CampaignId, PackageId
from spotthebot.contracts.conversations import Turn
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id


async def expire_claims(session: WriteSession, campaign_id: UUID, now: datetime) -> None:
    """End the claims of annotators whose time is up, so that others may claim their packages."""
    await session.execute(
        update(AssignmentRow)
        .where(
            AssignmentRow.campaign_id == campaign_id,
            AssignmentRow.state.in_(states_before(AssignmentState.EXPIRED)),
            AssignmentRow.expires_at <= now,
        )
        .values(state=AssignmentState.EXPIRED)
    )


async def lock_claims(session: WriteSession, campaign_id: UUID) -> None:
    """Let one claim of a campaign at a time pass, until this transaction ends, so that annotators are counted right.

    Claims are short and rare. With locks on single packages, one claim would skip a package that another only reads.
    """
    name = f"annotation.claim/{campaign_id}"
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))


async def find_claimed(session: ReadSession, campaign_id: UUID, annotator: str) -> AssignmentId | None:
    """Return the assignment that the annotator has claimed and not finished, if there is one."""
    statement = select(AssignmentRow.id).where(
        AssignmentRow.campaign_id == campaign_id,
        AssignmentRow.annotator == annotator,
        AssignmentRow.state == AssignmentState.CLAIMED,
    )
    found = await session.scalar(statement.limit(1))
    return None if found is None else AssignmentId(found)


async def revive_expired(
    session: WriteSession, campaign: Campaign, annotator: str, expires_at: datetime
) -> AssignmentId | None:
    """Claim for an annotator a package whose claim by them expired, if it still needs an annotator."""
    other = aliased(AssignmentRow)
    taken = (
        select(func.count())
        .where(other.package_id == AssignmentRow.package_id, other.state.in_(COUNTED))
        .correlate(AssignmentRow)
        .scalar_subquery()
    )
    expired = (
        select(AssignmentRow.id)
        .where(
            AssignmentRow.campaign_id == campaign.id,
            AssignmentRow.annotator == annotator,
            AssignmentRow.state.in_(states_before(AssignmentState.CLAIMED)),
            taken < campaign.annotations_per_segment,
        )
        .order_by(AssignmentRow.id)
        .limit(1)
    )
    revived = await session.scalar(
        update(AssignmentRow)
        .where(AssignmentRow.id == expired.scalar_subquery())
        .values(state=AssignmentState.CLAIMED, expires_at=expires_at)
        .returning(AssignmentRow.id)
    )
    return None if revived is None else AssignmentId(revived)


async def claim_next(
    session: WriteSession, campaign: Campaign, annotator: str, expires_at: datetime
) -> AssignmentId | None:
    """Claim the first package that needs annotators and shows no conversation that this annotator has seen, if any."""
    seen = aliased(SegmentRow)
    mine = aliased(AssignmentRow)
    has_seen = exists(
        select(1)
        .select_from(mine)
        .join(seen, seen.package_id == mine.package_id)
        .join(
            SegmentRow,
            and_(SegmentRow.conversation_id == seen.conversation_id, SegmentRow.package_id == PackageRow.id),
        )
        .where(mine.campaign_id == campaign.id, mine.annotator == annotator)
    )
    taken = (
        select(func.count())
        .where(AssignmentRow.package_id == PackageRow.id, AssignmentRow.state.in_(COUNTED))
        .correlate(PackageRow)
        .scalar_subquery()
    )
    first = (
        select(PackageRow.id)
        .where(PackageRow.campaign_id == campaign.id, taken < campaign.annotations_per_segment, ~has_seen)
        .order_by(PackageRow.id)
        .limit(1)
    )
    package_id = await session.scalar(first)
    return None if package_id is None else await _assign(session, campaign.id, package_id, annotator, expires_at)


async def get_assignment(session: ReadSession, assignment_id: UUID, *, lock: bool = False) -> Assignment:
    """Return an assignment with its segments and annotations; `lock` locks it for this transaction."""
    statement = select(AssignmentRow).where(AssignmentRow.id == assignment_id)
    row = await session.scalar(statement.with_for_update() if lock else statement)
    if row is None:
        raise NoSuchAssignment(assignment_id=assignment_id)
    shown = (
        select(SegmentRow, ShownRow)
        .join(
            ShownRow,
            and_(
                ShownRow.campaign_id == SegmentRow.campaign_id, ShownRow.conversation_id == SegmentRow.conversation_id
            ),
        )
        .where(SegmentRow.package_id == row.package_id)
        .order_by(SegmentRow.position)
    )
    segments = tuple(_shown(segment, conversation) for segment, conversation in await session.execute(shown))
    annotated = await session.scalars(select(AnnotationRow).where(AnnotationRow.assignment_id == row.id))
    return Assignment(
        id=AssignmentId(row.id),
        campaign_id=CampaignId(row.campaign_id),
        package_id=PackageId(row.package_id),
        annotator=row.annotator,
        state=AssignmentState(row.state),
        expires_at=row.expires_at,
        completion_code=row.completion_code,
        segments=segments,
        annotations={row.segment_id: annotation_of(row) for row in annotated},
    )


async def complete_assignment(session: WriteSession, assignment_id: UUID, completion_code: str) -> None:
    """End an assignment whose segments are all annotated."""
    await session.execute(
        update(AssignmentRow)
        .where(AssignmentRow.id == assignment_id, AssignmentRow.state.in_(states_before(AssignmentState.COMPLETE)))
        .values(state=AssignmentState.COMPLETE, completed_at=datetime.now(UTC), completion_code=completion_code)
    )


async def _assign(
    session: WriteSession, campaign_id: UUID, package_id: UUID, annotator: str, expires_at: datetime
) -> AssignmentId:
    assignment_id = new_id()
    await session.execute(
        insert(AssignmentRow).values(
            id=assignment_id,
            campaign_id=campaign_id,
            package_id=package_id,
            annotator=annotator,
            state=AssignmentState.CLAIMED,
            claimed_at=datetime.now(UTC),
            expires_at=expires_at,
        )
    )
    return AssignmentId(assignment_id)


def _shown(segment: SegmentRow, conversation: ShownRow) -> ShownSegment:
    turns = [*conversation.opening, *conversation.turns[: 2 * segment.exchanges]]
    return ShownSegment(segment.id, segment.position, tuple(Turn.model_validate(turn) for turn in turns))
