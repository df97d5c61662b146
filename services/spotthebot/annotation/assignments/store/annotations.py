"""Annotations made from an assignment's answers at its submission, and removed at its rejection."""

from collections.abc import Sequence
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import String, Uuid, bindparam, column, delete, func, select
from sqlalchemy.dialects.postgresql import ARRAY, insert

from spotthebot.annotation.assignments.domain.answers import SubmittedAnswer
from spotthebot.annotation.assignments.store import drafts as drafts_store
from spotthebot.annotation.assignments.tables import AnnotationRow
from spotthebot.annotation.leases.domain import Lease
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.database.statements import Statement
from spotthebot.kit.ids import new_ids

_GIVEN = {
    "id": AnnotationRow.id,
    "item_id": AnnotationRow.item_id,
    "answer": AnnotationRow.answer,
    "judge_labels": AnnotationRow.judge_labels,
    "decisions": AnnotationRow.decisions,
    "started_at": AnnotationRow.started_at,
    "ended_at": AnnotationRow.ended_at,
    "elapsed_ms": AnnotationRow.elapsed_ms,
    "reported_ms": AnnotationRow.reported_ms,
}
"""The columns that differ between the annotations of an assignment: one JSON document, which is faster than arrays."""


def _add_submitted() -> Statement:
    given = func.jsonb_to_recordset(bindparam("given")).table_valued(
        *(column(name, given.type) for name, given in _GIVEN.items())
    )
    rows = given.render_derived(with_types=True)
    shared = {
        "campaign_id": bindparam("campaign_id", type_=Uuid),
        "assignment_id": bindparam("assignment_id", type_=Uuid),
        "annotator_id": bindparam("annotator_id", type_=Uuid),
        "question_order": bindparam("question_order", type_=ARRAY(String)),
    }
    added = select(*(rows.c[name] for name in _GIVEN), *shared.values())
    return Statement(insert(AnnotationRow).from_select([*_GIVEN, *shared], added))


_ADD_SUBMITTED = _add_submitted()


async def add_submitted(
    session: WriteSession, lease: Lease, answers: Sequence[SubmittedAnswer], question_order: Sequence[str]
) -> int:
    """Store the answers of an assignment as annotations and return their number. Answers to gold items are left out.

    `question_order` is the order in which the annotator was asked, if it was drawn; else it is empty.
    """
    answers = [each for each in answers if each.item_id is not None]
    parameters = {
        "campaign_id": lease.campaign_id,
        "assignment_id": lease.id,
        "annotator_id": lease.annotator_id,
        "question_order": [*question_order],
        "given": Jsonb(
            [
                {
                    "id": str(row_id),
                    "item_id": str(each.item_id),
                    "answer": each.answer,
                    "judge_labels": each.judge_labels and each.judge_labels.model_dump(mode="json"),
                    "decisions": drafts_store.decisions_to_json(each.decisions),
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
    """Remove the annotations of an assignment and return their number; its answers stay."""
    statement = delete(AnnotationRow).where(AnnotationRow.assignment_id == assignment_id).returning(AnnotationRow.id)
    return len((await session.scalars(statement)).all())
