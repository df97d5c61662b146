"""Drafts of answers, their revisions, and the annotations that they become."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import and_, func, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.domain.answers import AnsweredItem, Draft
from spotthebot.annotation.domain.assignments import Lease
from spotthebot.annotation.tables import AnswerRevisionRow, AnswerRow, ItemRow
from spotthebot.kit.database import ReadSession, WriteSession


async def list_items(session: ReadSession, lease: Lease, *, position: int | None = None) -> list[AnsweredItem]:
    """Return the items of an assignment, or the one at a position, with what was answered."""
    statement = (
        select(ItemRow.id, ItemRow.position, ItemRow.speakers, ItemRow.right_conversation_id.is_not(None), AnswerRow)
        .outerjoin(AnswerRow, and_(AnswerRow.assignment_id == lease.id, AnswerRow.position == ItemRow.position))
        .where(ItemRow.package_id == lease.package_id)
        .order_by(ItemRow.position)
    )
    if position is not None:
        statement = statement.where(ItemRow.position == position)
    return [
        AnsweredItem(
            id=item_id,
            position=at,
            speakers=speakers,
            is_pair=is_pair,
            draft=Draft() if row is None else Draft(row.answer, row.step, row.version),
            served_at=None if row is None else row.served_at,
            first_saved_at=None if row is None else row.first_saved_at,
            saved_at=None if row is None else row.saved_at,
            active_ms=0 if row is None else row.active_ms,
            reported_ms=None if row is None else row.reported_ms,
        )
        for item_id, at, speakers, is_pair, row in await session.execute(statement)
    ]


async def last_position(session: ReadSession, lease: Lease) -> int:
    """Return the position of the last item of an assignment."""
    statement = select(func.max(ItemRow.position)).where(ItemRow.package_id == lease.package_id)
    return int(await session.scalar(statement) or 0)


async def put_draft(
    session: WriteSession,
    assignment_id: UUID,
    item: AnsweredItem,
    draft: Draft,
    *,
    at: datetime,
    reported_ms: int | None,
) -> None:
    """Store a draft, and what it said before as a revision."""
    if item.draft.version:
        await session.execute(
            insert(AnswerRevisionRow).values(
                assignment_id=assignment_id,
                position=item.position,
                version=item.draft.version,
                answer=item.draft.answer,
                step=item.draft.step,
                saved_at=item.saved_at,
            )
        )
    changed = {
        "answer": draft.answer,
        "step": draft.step,
        "version": draft.version,
        "saved_at": at,
        "reported_ms": item.reported_ms if reported_ms is None else reported_ms,
    }
    await session.execute(
        insert(AnswerRow)
        .values(assignment_id=assignment_id, position=item.position, first_saved_at=at, **changed)
        .on_conflict_do_update(
            index_elements=[AnswerRow.assignment_id, AnswerRow.position],
            set_=changed | {"first_saved_at": item.first_saved_at or at},
        )
    )


async def add_active_time(
    session: WriteSession, assignment_id: UUID, position: int, *, at: datetime, milliseconds: int
) -> None:
    """Note that an item is on the annotator's screen, and for how much longer it was."""
    first = insert(AnswerRow).values(
        assignment_id=assignment_id,
        position=position,
        answer={},
        step=1,
        version=0,
        served_at=at,
        active_ms=milliseconds,
    )
    await session.execute(
        first.on_conflict_do_update(
            index_elements=[AnswerRow.assignment_id, AnswerRow.position],
            set_={
                "served_at": func.coalesce(AnswerRow.served_at, at),
                "active_ms": AnswerRow.active_ms + milliseconds,
            },
        )
    )
