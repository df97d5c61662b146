"""Erasure of a person from every table; their annotations stay, with an annotator whom nobody knows."""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Text, cast, delete, func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute

from spotthebot.annotation.domain.annotators import Annotator
from spotthebot.annotation.domain.erasure import ERASED, Person, naming_pattern, pseudonym
from spotthebot.annotation.tables import (
    IDEMPOTENCY,
    AnnotationRow,
    AnnotatorRow,
    AuditRow,
    BonusRow,
    CampaignRow,
    EntryLinkRow,
    EntryRow,
    ShownConversationRow,
)
from spotthebot.kit.database import WriteSession


async def lock_person(session: WriteSession, annotator: Annotator) -> Person:
    """Return who an annotator is, in all campaigns, and let no claim of theirs pass meanwhile."""
    statement = (
        select(AnnotatorRow.id, AnnotatorRow.campaign_id)
        .where(AnnotatorRow.external_id == annotator.external_id, AnnotatorRow.frontend == annotator.frontend)
        .order_by(AnnotatorRow.id)
        .with_for_update(key_share=True)
    )
    found = (await session.execute(statement)).all()
    return Person(annotator.frontend, annotator.external_id, {row.id: row.campaign_id for row in found})


async def erase_annotators(session: WriteSession, person: Person, at: datetime) -> None:
    """Give a person's annotators random names, and forget by which links, with what consent and appeal they came."""
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
    for annotator_id in person.annotators:
        await session.execute(
            update(AnnotatorRow)
            .where(AnnotatorRow.id == annotator_id)
            .values(
                external_id=pseudonym(),
                frontend=ERASED,
                blocked_reason=None,
                appeal=None,
                appealed_at=None,
                erased_at=at,
            )
        )


async def erase_texts(session: WriteSession, person: Person) -> None:
    """Put the word `erased` in place of texts about a person, and of others' texts that name them."""
    pattern = naming_pattern(person.external_id)
    for table, column in (
        (AnnotatorRow, AnnotatorRow.blocked_reason),
        (AnnotatorRow, AnnotatorRow.appeal),
        (BonusRow, BonusRow.reason),
    ):
        await session.execute(update(table).where(_names(column, pattern)).values({column.key: ERASED}))
    await session.execute(update(BonusRow).where(BonusRow.annotator_id.in_(person.annotators)).values(reason=ERASED))
    await session.execute(
        update(AnnotationRow)
        .where(_names(AnnotationRow.external_id, pattern))
        .values(external_id=func.concat(ERASED, "-", cast(AnnotationRow.id, Text)))
    )
    details = func.jsonb_each_text(AuditRow.details).table_valued("key", "value")
    erased = select(func.jsonb_object_agg(details.c.key, ERASED)).select_from(details).scalar_subquery()
    await session.execute(
        update(AuditRow)
        .where(
            or_(AuditRow.annotator_id.in_(person.annotators), _names(cast(AuditRow.details, Text), pattern)),
            AuditRow.details != cast({}, AuditRow.details.type),
        )
        .values(details=erased)
    )


async def erase_kept_answers(session: WriteSession, person: Person) -> None:
    """Delete answers that are kept for repeats of requests, where they hold a person's id."""
    in_json = json.dumps(person.external_id, ensure_ascii=False)[1:-1]
    held = [
        func.strpos(func.encode(IDEMPOTENCY.c.body, "hex"), each.encode().hex()) > 0
        for each in {person.external_id, in_json}
    ]
    in_key = func.strpos(IDEMPOTENCY.c.key, person.external_id) > 0
    await session.execute(delete(IDEMPOTENCY).where(or_(*held, in_key)))


def _names(column: InstrumentedAttribute[Any] | ColumnElement[str], pattern: str) -> ColumnElement[bool]:
    return column.op("~")(pattern)


def _without_chats(external_id: str) -> Any:  # noqa: ANN401 - SQLAlchemy's update
    """Return the statement that replaces the hashes of a person's chats by others, in every campaign."""
    salted = CampaignRow.interactor_salt.concat(func.convert_to(external_id, "UTF8"))
    return (
        update(ShownConversationRow)
        .where(
            ShownConversationRow.campaign_id == CampaignRow.id,
            ShownConversationRow.interactor_sha256 == func.sha256(salted),
        )
        .values(interactor_sha256=func.sha256(func.uuid_send(func.gen_random_uuid())))
    )
