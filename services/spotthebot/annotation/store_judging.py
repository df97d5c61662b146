"""The only SQL over claims, assignments and annotations."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import and_, exists, func, literal_column, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import aliased

from spotthebot.annotation.domain.campaigns import Assignment, Campaign, ResolvedAnnotation, ShownSegment
from spotthebot.annotation.domain.errors import NoSuchAssignment
from spotthebot.annotation.tables import AnnotationRow, AssignmentRow, PackageRow, SegmentRow
from spotthebot.annotation.tables import ShownConversationRow as ShownRow
from spotthebot.contracts.annotation import (
    AnnotationIn,
    AnnotationOut,
    AnnotationsRevisionOut,
    AssignmentId,
    AssignmentState,
    CampaignId,
    Judgements,
    Label,
    PackageId,
    Preference,
)
from spotthebot.contracts.conversations import Turn
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids

_LIVE = (AssignmentState.CLAIMED, AssignmentState.COMPLETE)


async def expire_claims(session: WriteSession, campaign_id: UUID) -> None:
    """Take packages back from workers whose time is up."""
    await session.execute(
        update(AssignmentRow)
        .where(
            AssignmentRow.campaign_id == campaign_id,
            AssignmentRow.state == AssignmentState.CLAIMED,
            AssignmentRow.expires_at <= datetime.now(UTC),
        )
        .values(state=AssignmentState.EXPIRED)
    )


async def lock_claims(session: WriteSession, campaign_id: UUID) -> None:
    """Let one claim at a time of a campaign pass, until this transaction ends, so that judges are counted right.

    Claims are short and rare. Locks on single packages would have one claim pass over what another only looks at.
    """
    name = f"annotation.claim/{campaign_id}"
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))


async def find_claimed(session: ReadSession, campaign_id: UUID, worker: str) -> AssignmentId | None:
    """Return the assignment that the worker holds already, if any."""
    statement = select(AssignmentRow.id).where(
        AssignmentRow.campaign_id == campaign_id,
        AssignmentRow.worker == worker,
        AssignmentRow.state == AssignmentState.CLAIMED,
    )
    found = await session.scalar(statement.limit(1))
    return None if found is None else AssignmentId(found)


async def revive_expired(
    session: WriteSession, campaign: Campaign, worker: str, *, ttl_seconds: int
) -> AssignmentId | None:
    """Give the worker back a package that expired in their hands, if it still needs a judge."""
    other = aliased(AssignmentRow)
    taken = (
        select(func.count())
        .where(other.package_id == AssignmentRow.package_id, other.state.in_(_LIVE))
        .correlate(AssignmentRow)
        .scalar_subquery()
    )
    expired = (
        select(AssignmentRow.id)
        .where(
            AssignmentRow.campaign_id == campaign.id,
            AssignmentRow.worker == worker,
            AssignmentRow.state == AssignmentState.EXPIRED,
            taken < campaign.annotations_per_segment,
        )
        .order_by(AssignmentRow.id)
        .limit(1)
    )
    revived = await session.scalar(
        update(AssignmentRow)
        .where(AssignmentRow.id == expired.scalar_subquery())
        .values(state=AssignmentState.CLAIMED, expires_at=datetime.now(UTC) + timedelta(seconds=ttl_seconds))
        .returning(AssignmentRow.id)
    )
    return None if revived is None else AssignmentId(revived)


async def claim_next(
    session: WriteSession, campaign: Campaign, worker: str, *, ttl_seconds: int
) -> AssignmentId | None:
    """Give the worker the first package that needs judges and shows nothing the worker has seen; None if none does."""
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
        .where(mine.campaign_id == campaign.id, mine.worker == worker)
    )
    taken = (
        select(func.count())
        .where(AssignmentRow.package_id == PackageRow.id, AssignmentRow.state.in_(_LIVE))
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
    return None if package_id is None else await _assign(session, campaign.id, package_id, worker, ttl_seconds)


async def get_assignment(session: ReadSession, assignment_id: UUID, *, lock: bool = False) -> Assignment:
    """Return an assignment with what its worker sees and has said; `lock` holds it for this transaction."""
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
    said = await session.scalars(select(AnnotationRow).where(AnnotationRow.assignment_id == row.id))
    return Assignment(
        id=AssignmentId(row.id),
        campaign_id=CampaignId(row.campaign_id),
        package_id=PackageId(row.package_id),
        worker=row.worker,
        state=AssignmentState(row.state),
        expires_at=row.expires_at,
        completion_code=row.completion_code,
        segments=segments,
        annotations={annotation.segment_id: _judgements(annotation) for annotation in said},
    )


async def put_annotation(
    session: WriteSession, assignment: Assignment, segment_id: UUID, annotation: AnnotationIn
) -> None:
    """Store what a worker says of a segment, in place of what the same worker said of it before."""
    values = annotation.model_dump()
    statement = insert(AnnotationRow).values(
        id=new_id(),
        campaign_id=assignment.campaign_id,
        segment_id=segment_id,
        assignment_id=assignment.id,
        worker=assignment.worker,
        ended_at=datetime.now(UTC),
        **values,
    )
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=[AnnotationRow.assignment_id, AnnotationRow.segment_id],
            set_={**values, "ended_at": datetime.now(UTC)},
        )
    )


async def complete_assignment(session: WriteSession, assignment_id: UUID, completion_code: str) -> None:
    """End an assignment whose segments are all annotated."""
    await session.execute(
        update(AssignmentRow)
        .where(AssignmentRow.id == assignment_id)
        .values(state=AssignmentState.COMPLETE, completed_at=datetime.now(UTC), completion_code=completion_code)
    )


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


async def add_imported_annotations(
    session: WriteSession, campaign_id: UUID, annotations: Sequence[ResolvedAnnotation]
) -> int:
    """Store uploaded annotations, in order; those whose external id is known stay. Returns how many were new."""
    rows = [
        {
            "id": row_id,
            "campaign_id": campaign_id,
            "segment_id": each.segment_id,
            **each.uploaded.model_dump(exclude={"package", "conversation", "exchanges"}),
        }
        for row_id, each in zip(new_ids(len(annotations)), annotations, strict=True)
    ]
    statement = insert(AnnotationRow).on_conflict_do_nothing().returning(AnnotationRow.id)
    return len((await session.scalars(statement, rows)).all())


async def list_annotations(
    session: ReadSession, campaign_id: UUID, *, after: UUID | None, limit: int
) -> list[AnnotationOut]:
    """Return annotations with the ids of what they are about, oldest first."""
    statement = (
        select(AnnotationRow, SegmentRow)
        .join(SegmentRow, SegmentRow.id == AnnotationRow.segment_id)
        .where(AnnotationRow.campaign_id == campaign_id)
        .order_by(AnnotationRow.id)
        .limit(limit)
    )
    if after is not None:
        statement = statement.where(AnnotationRow.id > after)
    return [
        AnnotationOut(
            **_judgements(row).model_dump(),
            id=row.id,
            conversation_id=segment.conversation_id,
            package_id=segment.package_id,
            exchanges=segment.exchanges,
            worker=row.worker,
            started_at=row.started_at,
            ended_at=row.ended_at,
            elapsed_ms=row.elapsed_ms,
        )
        for row, segment in await session.execute(statement)
    ]


async def annotations_revision(session: ReadSession, campaign_id: UUID) -> AnnotationsRevisionOut:
    """Count a campaign's annotations and sum the hashes of their rows, whose order the sum forgets."""
    row_hash = func.hash_record_extended(literal_column(AnnotationRow.__tablename__), 0)
    statement = select(func.count(), func.coalesce(func.sum(row_hash), 0)).select_from(AnnotationRow)
    count, hashes = (await session.execute(statement.where(AnnotationRow.campaign_id == campaign_id))).one()
    return AnnotationsRevisionOut(annotations=count, revision=f"{count}-{int(hashes) % 2**64:016x}")


async def _assign(
    session: WriteSession, campaign_id: UUID, package_id: UUID, worker: str, ttl_seconds: int
) -> AssignmentId:
    now, assignment_id = datetime.now(UTC), new_id()
    await session.execute(
        insert(AssignmentRow).values(
            id=assignment_id,
            campaign_id=campaign_id,
            package_id=package_id,
            worker=worker,
            state=AssignmentState.CLAIMED,
            claimed_at=now,
            expires_at=now + timedelta(seconds=ttl_seconds),
        )
    )
    return AssignmentId(assignment_id)


def _shown(segment: SegmentRow, conversation: ShownRow) -> ShownSegment:
    turns = [*conversation.opening, *conversation.turns[: 2 * segment.exchanges]]
    return ShownSegment(segment.id, segment.position, tuple(Turn.model_validate(turn) for turn in turns))


def _judgements(row: AnnotationRow) -> Judgements:
    return Judgements(
        label_a=Label(row.label_a),
        label_b=Label(row.label_b),
        fluency=Preference(row.fluency),
        sensibleness=Preference(row.sensibleness),
        specificity=Preference(row.specificity),
    )
