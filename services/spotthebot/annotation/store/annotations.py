"""Annotations, made here or imported."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import func, literal_column, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.domain.annotations import AnnotationsRevision, ImportedAnnotation, StoredAnnotation
from spotthebot.annotation.domain.assignments import Assignment
from spotthebot.annotation.tables import AnnotationRow, SegmentRow
from spotthebot.contracts.annotation import Annotation, AnnotationIn, Label, Preference
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_id, new_ids


async def put_annotation(
    session: WriteSession, assignment: Assignment, segment_id: UUID, annotation: AnnotationIn
) -> None:
    """Store an annotation, in place of an earlier one of the same segment in the same assignment."""
    values = annotation.model_dump()
    statement = insert(AnnotationRow).values(
        id=new_id(),
        campaign_id=assignment.campaign_id,
        segment_id=segment_id,
        assignment_id=assignment.id,
        annotator=assignment.annotator,
        ended_at=datetime.now(UTC),
        **values,
    )
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=[AnnotationRow.assignment_id, AnnotationRow.segment_id],
            set_={**values, "ended_at": datetime.now(UTC)},
        )
    )


async def add_imported_annotations(
    session: WriteSession, campaign_id: UUID, annotations: Sequence[ImportedAnnotation]
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
) -> list[StoredAnnotation]:
    """Return a campaign's annotations, oldest first."""
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
        StoredAnnotation(
            annotation=annotation_of(row),
            id=row.id,
            conversation_id=segment.conversation_id,
            package_id=segment.package_id,
            exchanges=segment.exchanges,
            annotator=row.annotator,
            started_at=row.started_at,
            ended_at=row.ended_at,
            elapsed_ms=row.elapsed_ms,
        )
        for row, segment in await session.execute(statement)
    ]


async def get_annotations_revision(session: ReadSession, campaign_id: UUID) -> AnnotationsRevision:
    """Count a campaign's annotations and sum the hashes of their rows, whose order the sum forgets."""
    row_hash = func.hash_record_extended(literal_column(AnnotationRow.__tablename__), 0)
    statement = select(func.count(), func.coalesce(func.sum(row_hash), 0)).select_from(AnnotationRow)
    count, hashes = (await session.execute(statement.where(AnnotationRow.campaign_id == campaign_id))).one()
    return AnnotationsRevision(annotations=count, revision=f"{count}-{int(hashes) % 2**64:016x}")


def annotation_of(row: AnnotationRow) -> Annotation:
    """Return the labels and preferences of a row."""
    return Annotation(
        label_a=Label(row.label_a),
        label_b=Label(row.label_b),
        fluency=Preference(row.fluency),
        sensibleness=Preference(row.sensibleness),
        specificity=Preference(row.specificity),
    )
