"""Annotations, made here or imported."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import (
    Select,
    Uuid,
    bindparam,
    column,
    delete,
    func,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.domain.annotations import (
    AnnotatedItem,
    AnnotationsRevision,
    ImportedAnnotation,
    StoredAnnotation,
)
from spotthebot.annotation.domain.answers import SubmittedAnswer
from spotthebot.annotation.domain.assignments import Lease
from spotthebot.annotation.store import decisions
from spotthebot.annotation.store.packages import exported_names, right_of
from spotthebot.annotation.tables import AnnotationRow, AnnotatorRow, CampaignRow, ItemRow
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_ids
from spotthebot.kit.statements import Statement

_UPLOADED = {
    *("answer", "decisions", "started_at", "ended_at", "elapsed_ms", "reported_ms"),
    *("external_id", "completion_code"),
}
_GIVEN = {
    "id": AnnotationRow.id,
    "item_id": AnnotationRow.item_id,
    "answer": AnnotationRow.answer,
    "decisions": AnnotationRow.decisions,
    "started_at": AnnotationRow.started_at,
    "ended_at": AnnotationRow.ended_at,
    "elapsed_ms": AnnotationRow.elapsed_ms,
    "reported_ms": AnnotationRow.reported_ms,
}
"""What differs between the annotations of an assignment: one JSON document, which is made faster than arrays."""


def _add_submitted() -> Statement:
    given = func.jsonb_to_recordset(bindparam("given")).table_valued(
        *(column(name, given.type) for name, given in _GIVEN.items())
    )
    rows = given.render_derived(with_types=True)
    shared = {
        "campaign_id": bindparam("campaign_id", type_=Uuid),
        "assignment_id": bindparam("assignment_id", type_=Uuid),
        "annotator_id": bindparam("annotator_id", type_=Uuid),
    }
    added = select(*(rows.c[name] for name in _GIVEN), *shared.values())
    return Statement(insert(AnnotationRow).from_select([*_GIVEN, *shared], added))


_ADD_SUBMITTED = _add_submitted()


async def add_submitted(session: WriteSession, lease: Lease, answers: Sequence[SubmittedAnswer]) -> int:
    """Store the answers of an assignment as annotations and return how many they are; those to gold items are none."""
    answers = [each for each in answers if each.item_id is not None]
    parameters = {
        "campaign_id": lease.campaign_id,
        "assignment_id": lease.id,
        "annotator_id": lease.annotator_id,
        "given": Jsonb(
            [
                {
                    "id": str(row_id),
                    "item_id": str(each.item_id),
                    "answer": each.answer,
                    "decisions": decisions.to_json(each.decisions),
                    "started_at": each.started_at.isoformat(),
                    "ended_at": each.ended_at.isoformat(),
                    "elapsed_ms": each.elapsed_ms,
                    "reported_ms": each.reported_ms,
                }
                for row_id, each in zip(new_ids(len(answers)), answers, strict=True)
            ]
        ),
    }
    await session.fetch(_ADD_SUBMITTED, parameters)
    return len(answers)


async def remove_submitted(session: WriteSession, assignment_id: UUID) -> int:
    """Remove the annotations of an assignment and return how many there were; its answers stay."""
    statement = delete(AnnotationRow).where(AnnotationRow.assignment_id == assignment_id).returning(AnnotationRow.id)
    return len((await session.scalars(statement)).all())


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
            "decisions": decisions.to_json(each.decisions),
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
    session: ReadSession,
    campaign_id: UUID,
    *,
    conversation_id: UUID | None = None,
    after: UUID | None,
    limit: int,
) -> list[StoredAnnotation]:
    """Return a campaign's annotations, or those that one conversation has on either side, oldest first."""
    statement = (
        select(AnnotationRow, ItemRow, AnnotatorRow.external_id)
        .join(ItemRow, ItemRow.id == AnnotationRow.item_id)
        .join(AnnotatorRow, AnnotatorRow.id == AnnotationRow.annotator_id)
    )
    if conversation_id is not None:
        shows = or_(ItemRow.conversation_id == conversation_id, ItemRow.right_conversation_id == conversation_id)
        statement = statement.where(ItemRow.campaign_id == campaign_id, shows)
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
    """Count a campaign's annotations and sum the hashes of their rows, whose order the sum forgets.

    Annotators who were erased count as well: of a published study nothing else says that a name is gone.
    """
    row_hash = func.hash_record_extended(literal_column(AnnotationRow.__tablename__), 0)
    erased = select(func.count()).where(AnnotatorRow.campaign_id == campaign_id, AnnotatorRow.erased_at.is_not(None))
    statement = select(func.count(), func.coalesce(func.sum(row_hash), 0), erased.scalar_subquery())
    statement = statement.select_from(AnnotationRow).where(AnnotationRow.campaign_id == campaign_id)
    count, hashes, names = (await session.execute(statement)).one()
    return AnnotationsRevision(annotations=count, revision=f"{count}-{(int(hashes) + names) % 2**64:016x}")


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
        decisions=decisions.from_json(row.decisions),
        started_at=row.started_at,
        ended_at=row.ended_at,
        elapsed_ms=row.elapsed_ms,
        reported_ms=row.reported_ms,
    )
