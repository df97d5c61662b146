"""Reads submitted and imported annotations, and stores imported annotations.

Judges are left out wherever they are not asked for by name, so that no reader takes their labels for people's.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, exists, func, literal_column, or_, select, true, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import aliased

from spotthebot.annotation.annotations.domain import (
    AnnotatedItem,
    AnnotationsRevision,
    ImportedAnnotation,
    StoredAnnotation,
)
from spotthebot.annotation.annotators.domain import annotating_judge
from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.assignments.store import drafts as drafts_store
from spotthebot.annotation.assignments.tables import AnnotationRow
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.judges.tables import JudgeRow
from spotthebot.annotation.packages import store as packages_store
from spotthebot.annotation.packages.tables import ItemRow
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.judges import ALL_JUDGES, JudgeLabels
from spotthebot.kit.database.revisions import revision_of, sum_of_hashes
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_ids

_UPLOADED = {
    *("answer", "decisions", "started_at", "ended_at", "elapsed_ms", "reported_ms"),
    *("external_id", "completion_code", "question_order", "judge_labels"),
}
_JUDGE = JudgeRow.name.label("judge_name"), JudgeRow.version.label("judge_version")
_ANNOTATOR = AnnotatorRow.external_id, AnnotatorRow.kind, *_JUDGE


async def add_imported_annotations(
    session: WriteSession, campaign_id: UUID, annotations: Sequence[ImportedAnnotation]
) -> int:
    """Store uploaded annotations in order and return how many are new.

    Annotations with a known external id stay unchanged. The campaign's counter leaves out judges.
    """
    rows = [
        {
            "id": row_id,
            "campaign_id": campaign_id,
            "item_id": each.item_id,
            "annotator_id": each.annotator_id,
            **each.uploaded.model_dump(include=_UPLOADED),
            "decisions": drafts_store.decisions_to_json(each.decisions),
        }
        for row_id, each in zip(new_ids(len(annotations)), annotations, strict=True)
    ]
    statement = insert(AnnotationRow).on_conflict_do_nothing().returning(AnnotationRow.annotator_id)
    stored = (await session.scalars(statement, rows)).all()
    judges = {each.annotator_id for each in annotations if each.uploaded.annotator_kind is AnnotatorKind.JUDGE}
    counted = sum(annotator_id not in judges for annotator_id in stored)
    await session.execute(
        update(CampaignRow).where(CampaignRow.id == campaign_id).values(annotations=CampaignRow.annotations + counted)
    )
    return len(stored)


async def list_annotations(
    session: ReadSession,
    campaign_id: UUID,
    *,
    conversation_id: UUID | None = None,
    judges: Sequence[str] = (),
    after: UUID | None,
    limit: int,
) -> list[StoredAnnotation]:
    """Return a campaign's annotations, oldest first; with `conversation_id`, only annotations of items that show it.

    Annotations of judges are left out, unless `judges` names them.
    """
    statement = (
        select(AnnotationRow, ItemRow, *_ANNOTATOR)
        .join(ItemRow, ItemRow.id == AnnotationRow.item_id)
        .join(AnnotatorRow, AnnotatorRow.id == AnnotationRow.annotator_id)
        .outerjoin(JudgeRow, JudgeRow.id == AnnotatorRow.judge_id)
        .where(_is_asked_for(judges))
    )
    if conversation_id is not None:
        shows = or_(ItemRow.conversation_id == conversation_id, ItemRow.right_conversation_id == conversation_id)
        statement = statement.where(ItemRow.campaign_id == campaign_id, shows)
    rows = await session.execute(_page(statement, campaign_id, after=after, limit=limit))
    return [_stored(*row) for row in rows]


async def list_annotated_items(
    session: ReadSession, campaign_id: UUID, *, judges: Sequence[str] = (), after: UUID | None, limit: int
) -> list[AnnotatedItem]:
    """Return a campaign's annotations, oldest first, with the names that exports use.

    Annotations of judges are left out, unless `judges` names them.
    """
    statement = (
        packages_store.exported_names(AnnotationRow, ItemRow, *_ANNOTATOR)
        .join(AnnotationRow, AnnotationRow.item_id == ItemRow.id)
        .join(AnnotatorRow, AnnotatorRow.id == AnnotationRow.annotator_id)
        .outerjoin(JudgeRow, JudgeRow.id == AnnotatorRow.judge_id)
        .where(_is_asked_for(judges))
    )
    rows = await session.execute(_page(statement, campaign_id, after=after, limit=limit))
    return [
        AnnotatedItem(
            annotation=_stored(row, item, *annotator),
            external_id=row.external_id or str(row.id),
            package=package,
            position=item.position,
            conversation=conversation,
            right_conversation=right,
        )
        for row, item, *annotator, package, conversation, right in rows
    ]


async def get_annotations_revision(
    session: ReadSession, campaign_id: UUID, *, judges: Sequence[str] = ()
) -> AnnotationsRevision:
    """Count a campaign's annotations and sum the hashes of their rows; the sum does not depend on their order.

    The sum includes the number of erased annotators, because an erasure may change no annotation. If the names of
    annotators are published, a reader has to notice the erasure. Annotations of judges are left out, unless `judges`
    names them.
    """
    hashes = sum_of_hashes(literal_column(AnnotationRow.__tablename__))
    erased = select(func.count()).where(AnnotatorRow.campaign_id == campaign_id, AnnotatorRow.erased_at.is_not(None))
    statement = select(func.count(), hashes, erased.scalar_subquery())
    statement = (
        statement.select_from(AnnotationRow)
        .join(AnnotatorRow, AnnotatorRow.id == AnnotationRow.annotator_id)
        .outerjoin(JudgeRow, JudgeRow.id == AnnotatorRow.judge_id)
        .where(AnnotationRow.campaign_id == campaign_id, _is_asked_for(judges))
    )
    count, *sums = (await session.execute(statement)).one()
    return AnnotationsRevision(annotations=count, revision=revision_of(count, *sums))


async def count_shared_people(session: ReadSession, campaign_id: UUID, others: Sequence[UUID]) -> int:
    """Count the people who annotated in a campaign and in any of `others`, by frontend and id."""
    other = aliased(AnnotatorRow)
    annotated = exists().where(AnnotationRow.annotator_id == AnnotatorRow.id)
    again = exists().where(
        other.campaign_id.in_(others),
        other.external_id == AnnotatorRow.external_id,
        other.frontend == AnnotatorRow.frontend,
        exists().where(AnnotationRow.annotator_id == other.id),
    )
    of_campaign = AnnotatorRow.campaign_id == campaign_id, AnnotatorRow.erased_at.is_(None)
    return await session.scalar(select(func.count()).where(*of_campaign, annotated, again)) or 0


def _is_asked_for(judges: Sequence[str]) -> ColumnElement[bool]:
    """Return the SQL condition that an annotator is no judge, or one of these judges by name; `*` names all of them."""
    if ALL_JUDGES in judges:
        return true()
    named = func.coalesce(JudgeRow.name, AnnotatorRow.external_id).in_(judges)
    return or_(AnnotatorRow.kind != AnnotatorKind.JUDGE, named)


def _page(
    statement: Select[*tuple[Any, ...]], campaign_id: UUID, *, after: UUID | None, limit: int
) -> Select[*tuple[Any, ...]]:
    of_campaign = statement.where(AnnotationRow.campaign_id == campaign_id).order_by(AnnotationRow.id).limit(limit)
    return of_campaign if after is None else of_campaign.where(AnnotationRow.id > after)


def _stored(
    row: AnnotationRow, item: ItemRow, annotator: str, kind: str, judge: str | None, version: int | None
) -> StoredAnnotation:
    return from_row(
        StoredAnnotation,
        row,
        conversation_id=item.conversation_id,
        package_id=item.package_id,
        exchanges=item.exchanges,
        right=packages_store.right_of(item),
        annotator_external_id=annotator,
        annotator_kind=AnnotatorKind(kind),
        judge=annotating_judge(AnnotatorKind(kind), annotator, judge, version),
        judge_labels=row.judge_labels and JudgeLabels.model_validate(row.judge_labels),
        decisions=drafts_store.decisions_from_json(row.decisions),
        question_order=tuple(row.question_order),
    )
