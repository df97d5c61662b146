"""Annotations, made here or imported."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, literal_column, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.domain.annotations import (
    AnnotatedItem,
    AnnotationsRevision,
    ImportedAnnotation,
    StoredAnnotation,
)
from spotthebot.annotation.domain.answers import SubmittedAnswer
from spotthebot.annotation.domain.assignments import Lease
from spotthebot.annotation.store.packages import exported_names, right_of
from spotthebot.annotation.tables import AnnotationRow, AnnotatorRow, CampaignRow, ItemRow
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_ids

_CHANGED = ("answer", "started_at", "ended_at", "elapsed_ms", "reported_ms")
_UPLOADED = {*_CHANGED, "external_id", "completion_code"}


async def add_submitted(session: WriteSession, lease: Lease, answers: Sequence[SubmittedAnswer]) -> int:
    """Store the answers of an assignment as annotations and return how many are new.

    Those that a release before ours kept of an assignment that was not complete are replaced.
    """
    rows = [
        {
            "id": row_id,
            "campaign_id": lease.campaign_id,
            "item_id": answer.item_id,
            "assignment_id": lease.id,
            "annotator_id": lease.annotator_id,
            "answer": answer.answer,
            "started_at": answer.started_at,
            "ended_at": answer.ended_at,
            "elapsed_ms": answer.elapsed_ms,
            "reported_ms": answer.reported_ms,
        }
        for row_id, answer in zip(new_ids(len(answers)), answers, strict=True)
    ]
    statement = insert(AnnotationRow).values(rows)
    changed = {name: statement.excluded[name] for name in _CHANGED}
    is_new: ColumnElement[bool] = literal_column("xmax = 0")
    stored = await session.scalars(
        statement.on_conflict_do_update(
            index_elements=[AnnotationRow.assignment_id, AnnotationRow.item_id], set_=changed
        ).returning(is_new)
    )
    return sum(stored)


async def add_imported_annotations(
    session: WriteSession, campaign_id: UUID, annotations: Sequence[ImportedAnnotation]
) -> int:
    """Store uploaded annotations, in order; those whose external id is known stay. Returns how many were new."""
    rows = [
        {
            "id": row_id,
            "campaign_id": campaign_id,
            "item_id": each.item_id,
            "annotator_id": each.annotator_id,
            **each.uploaded.model_dump(include=_UPLOADED),
        }
        for row_id, each in zip(new_ids(len(annotations)), annotations, strict=True)
    ]
    statement = insert(AnnotationRow).on_conflict_do_nothing().returning(AnnotationRow.id)
    stored = len((await session.scalars(statement, rows)).all())
    await session.execute(
        update(CampaignRow).where(CampaignRow.id == campaign_id).values(annotations=CampaignRow.annotations + stored)
    )
    return stored


async def list_annotations(
    session: ReadSession, campaign_id: UUID, *, after: UUID | None, limit: int
) -> list[StoredAnnotation]:
    """Return a campaign's annotations, oldest first."""
    statement = (
        select(AnnotationRow, ItemRow, AnnotatorRow.external_id)
        .join(ItemRow, ItemRow.id == AnnotationRow.item_id)
        .join(AnnotatorRow, AnnotatorRow.id == AnnotationRow.annotator_id)
    )
    rows = await session.execute(_page(statement, campaign_id, after=after, limit=limit))
    return [_stored(*row) for row in rows]


async def list_annotated_items(
    session: ReadSession, campaign_id: UUID, *, after: UUID | None, limit: int
) -> list[AnnotatedItem]:
    """Return a campaign's annotations, oldest first, with what files name them by."""
    statement = (
        exported_names(AnnotationRow, ItemRow, AnnotatorRow.external_id)
        .join(AnnotationRow, AnnotationRow.item_id == ItemRow.id)
        .join(AnnotatorRow, AnnotatorRow.id == AnnotationRow.annotator_id)
    )
    rows = await session.execute(_page(statement, campaign_id, after=after, limit=limit))
    return [
        AnnotatedItem(
            annotation=_stored(row, item, annotator),
            external_id=row.external_id or str(row.id),
            package=package,
            position=item.position,
            conversation=conversation,
            right_conversation=right,
        )
        for row, item, annotator, package, conversation, right in rows
    ]


async def get_annotations_revision(session: ReadSession, campaign_id: UUID) -> AnnotationsRevision:
    """Count a campaign's annotations and sum the hashes of their rows, whose order the sum forgets."""
    row_hash = func.hash_record_extended(literal_column(AnnotationRow.__tablename__), 0)
    statement = select(func.count(), func.coalesce(func.sum(row_hash), 0)).select_from(AnnotationRow)
    count, hashes = (await session.execute(statement.where(AnnotationRow.campaign_id == campaign_id))).one()
    return AnnotationsRevision(annotations=count, revision=f"{count}-{int(hashes) % 2**64:016x}")


def _page(
    statement: Select[*tuple[Any, ...]], campaign_id: UUID, *, after: UUID | None, limit: int
) -> Select[*tuple[Any, ...]]:
    of_campaign = statement.where(AnnotationRow.campaign_id == campaign_id).order_by(AnnotationRow.id).limit(limit)
    return of_campaign if after is None else of_campaign.where(AnnotationRow.id > after)


def _stored(row: AnnotationRow, item: ItemRow, annotator: str) -> StoredAnnotation:
    return StoredAnnotation(
        id=row.id,
        conversation_id=item.conversation_id,
        package_id=item.package_id,
        exchanges=item.exchanges,
        right=right_of(item),
        annotator_id=row.annotator_id,
        annotator=annotator,
        answer=row.answer,
        started_at=row.started_at,
        ended_at=row.ended_at,
        elapsed_ms=row.elapsed_ms,
        reported_ms=row.reported_ms,
    )
