"""Erasure of a person from every table. Their annotations stay, with an anonymous annotator."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Text,
    Update,
    and_,
    case,
    cast,
    column,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import InstrumentedAttribute

from spotthebot.annotation.annotators.domain import Annotator
from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.assignments.tables import AnnotationRow, AnswerRevisionRow, AnswerRow
from spotthebot.annotation.attempts.tables import TrainingAnswerRow
from spotthebot.annotation.audit.tables import AuditRow
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.conversations.tables import ShownConversationRow
from spotthebot.annotation.entry_links.tables import EntryLinkRow, EntryRow
from spotthebot.annotation.erasure.domain import Person, naming_pattern
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.payments.tables import BonusRow
from spotthebot.kit.crypto.pseudonyms import ERASED, erased_name
from spotthebot.kit.database.sessions import WriteSession


async def lock_person(session: WriteSession, annotator: Annotator) -> Person:
    """Return the person behind an annotator, in all campaigns, and block the person's claims by locks.

    It also locks annotators whose texts name the person. All transactions lock annotators in the same order, so
    deadlocks can't occur.
    """
    pattern = naming_pattern(annotator.external_id)
    is_person = and_(AnnotatorRow.external_id == annotator.external_id, AnnotatorRow.frontend == annotator.frontend)
    statement = (
        select(AnnotatorRow.id, AnnotatorRow.campaign_id, is_person.label("is_person"))
        .where(
            or_(is_person, _names(AnnotatorRow.blocked_reason, pattern), _names(AnnotatorRow.appeal, pattern)),
        )
        .order_by(AnnotatorRow.id)
        .with_for_update(key_share=True)
    )
    found = (await session.execute(statement)).all()
    mine = {row.id: row.campaign_id for row in found if row.is_person}
    return Person(annotator.frontend, annotator.external_id, mine)


async def erase_annotators(session: WriteSession, person: Person, at: datetime) -> None:
    """Give a person's annotators random names, and delete their entries, consent and appeals."""
    await session.execute(delete(EntryRow).where(EntryRow.annotator_id.in_(person.annotators)))
    await session.execute(
        update(EntryLinkRow)
        .where(
            EntryLinkRow.annotator == person.external_id,
            or_(EntryLinkRow.frontend.is_(None), EntryLinkRow.frontend == person.frontend),
        )
        .values(annotator=None, expires_at=at)
    )
    await session.execute(_without_chats(person.external_id))
    # The panel has these codes next to its ids.
    for table in (AssignmentRow, AnnotationRow):
        await session.execute(
            update(table).where(table.annotator_id.in_(person.annotators)).values(completion_code=None)
        )
    for annotator_id in person.annotators:
        await session.execute(
            update(AnnotatorRow)
            .where(AnnotatorRow.id == annotator_id)
            .values(
                external_id=erased_name(),
                frontend=ERASED,
                blocked_reason=None,
                appeal=None,
                appealed_at=None,
                erased_at=at,
            )
        )


async def erase_texts(session: WriteSession, person: Person) -> None:
    """Replace texts about a person, and other people's texts that name the person, by the word `erased`.

    An id that could be a word is searched only in the person's own campaigns.
    """
    pattern = naming_pattern(person.external_id)

    def in_scope(campaign_id: InstrumentedAttribute[UUID]) -> ColumnElement[bool]:
        return true() if person.is_unlike_a_word else campaign_id.in_(person.annotators.values())

    for table, written in (
        (AnnotatorRow, AnnotatorRow.blocked_reason),
        (AnnotatorRow, AnnotatorRow.appeal),
        (BonusRow, BonusRow.reason),
    ):
        await session.execute(
            update(table).where(in_scope(table.campaign_id), _names(written, pattern)).values({written.key: ERASED})
        )
    await session.execute(update(BonusRow).where(BonusRow.annotator_id.in_(person.annotators)).values(reason=ERASED))
    imports = select(CampaignRow.id).where(CampaignRow.mode == "import")
    await session.execute(
        update(AnnotationRow)
        .where(
            AnnotationRow.campaign_id.in_(imports),
            in_scope(AnnotationRow.campaign_id),
            _names(AnnotationRow.external_id, pattern),
        )
        .values(external_id=func.concat(ERASED, "-", cast(AnnotationRow.id, Text)))
    )
    details = func.jsonb_each_text(AuditRow.details).table_valued("key", "value")
    is_mine = AuditRow.annotator_id.is_not(None) & AuditRow.annotator_id.in_(person.annotators)
    erased = case((or_(is_mine, _names(details.c.value, pattern)), ERASED), else_=details.c.value)
    await session.execute(
        update(AuditRow)
        .where(
            or_(is_mine, in_scope(AuditRow.campaign_id) & exists().where(_names(details.c.value, pattern))),
            AuditRow.details != cast({}, AuditRow.details.type),
        )
        .values(details=select(func.jsonb_object_agg(details.c.key, erased)).scalar_subquery())
    )


async def erase_answers(session: WriteSession, annotator_id: UUID, questions: Sequence[str]) -> None:
    """Erase an annotator's free-text answers to these questions everywhere except in annotations.

    It changes drafts, earlier versions of drafts, and answers in trainings, whether submitted or not.
    """
    mine = select(AssignmentRow.id).where(AssignmentRow.annotator_id == annotator_id)
    for table, is_mine in (
        (AnswerRow, AnswerRow.assignment_id.in_(mine)),
        (AnswerRevisionRow, AnswerRevisionRow.assignment_id.in_(mine)),
        (TrainingAnswerRow, TrainingAnswerRow.annotator_id == annotator_id),
    ):
        await session.execute(_without_own_words(table, questions).where(is_mine))


async def erase_annotations(session: WriteSession, annotator_id: UUID, questions: Sequence[str]) -> int:
    """Erase an annotator's answers to these questions in annotations; return how many annotations changed."""
    statement = _without_own_words(AnnotationRow, questions).where(AnnotationRow.annotator_id == annotator_id)
    return len((await session.execute(statement.returning(AnnotationRow.id))).all())


def _without_own_words(
    table: type[AnswerRow | AnswerRevisionRow | TrainingAnswerRow | AnnotationRow], questions: Sequence[str]
) -> Update:
    """Return the statement that replaces answers to these questions by `erased`, including answers per side or turn."""
    ids = literal([*questions], ARRAY(Text))
    given = func.jsonb_each(table.answer).table_valued("key", column("value", JSONB), name="given")
    targets = func.jsonb_each(given.c.value).table_valued("key", column("value", JSONB), name="targets")
    of_targets = select(func.jsonb_object_agg(targets.c.key, _erased(targets.c.value))).scalar_subquery()
    answer = case(
        (given.c.key != func.all(ids), given.c.value),
        (func.jsonb_typeof(given.c.value) == "object", func.coalesce(of_targets, cast({}, JSONB))),
        else_=_erased(given.c.value),
    )
    erased = select(func.jsonb_object_agg(given.c.key, answer)).scalar_subquery()
    return (
        update(table)
        .where(table.answer.has_any(ids), table.answer != erased)
        .values(answer=erased)
        .execution_options(synchronize_session=False)
    )


def _erased(value: ColumnElement[Any]) -> ColumnElement[Any]:
    return case((func.jsonb_typeof(value) == "string", cast(ERASED, JSONB)), else_=value)


def _names(column: InstrumentedAttribute[Any] | ColumnElement[str], pattern: str) -> ColumnElement[bool]:
    return column.op("~")(pattern)


def _without_chats(external_id: str) -> Any:  # noqa: ANN401 - SQLAlchemy's update
    """Return the statement that replaces the hashes of a person's chats by random hashes, in every campaign."""
    salted = CampaignRow.interactor_salt.concat(func.convert_to(external_id, "UTF8"))
    return (
        update(ShownConversationRow)
        .where(
            ShownConversationRow.campaign_id == CampaignRow.id,
            ShownConversationRow.interactor_sha256 == func.sha256(salted),
        )
        .values(interactor_sha256=func.sha256(func.uuid_send(func.gen_random_uuid())))
    )
