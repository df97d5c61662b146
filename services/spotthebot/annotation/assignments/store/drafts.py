"""Drafts of answers, their revisions, and the times at which items were on the screen."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import and_, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.assignments.domain.answers import AnsweredItem, Draft
from spotthebot.annotation.assignments.tables import AnswerRevisionRow, AnswerRow
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.protocols.domain.exchanges import Decision
from spotthebot.contracts.annotation.assignments import AssignmentState
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.database.statements import Runner, Statement, constant

_IS_AS_IT_WAS = and_(
    AnswerRow.version == bindparam("before"), func.cardinality(AnswerRow.opened_at) == bindparam("opened_before")
)


def _save(*, keeps_revision: bool) -> Statement:
    """Return the statement that replaces version `before` of a draft; with `keeps_revision` it keeps that version.

    It returns a row if it stored the draft. It stores nothing if the lease has ended or another save came first. It
    also stores nothing if the number of open exchanges has changed, since decisions belong to that number. It locks the
    lease.
    """
    lease = (
        select(AssignmentRow.id)
        .where(
            AssignmentRow.id == bindparam("assignment_id"),
            AssignmentRow.state == constant(AssignmentState.LEASED),
            AssignmentRow.expires_at > bindparam("at"),
        )
        .with_for_update(key_share=True)
        .cte("lease")
    )
    values = {
        name: bindparam(given, type_=getattr(AnswerRow, name).type)
        for name, given in {
            "position": "position",
            "answer": "answer",
            "step": "step",
            "version": "version",
            "first_saved_at": "at",
            "saved_at": "at",
            "reported_ms": "reported_ms",
            "decisions": "decisions",
        }.items()
    }
    draft = insert(AnswerRow).from_select(["assignment_id", *values], select(lease.c.id, *values.values()))
    new = draft.excluded
    saved = draft.on_conflict_do_update(
        index_elements=[AnswerRow.assignment_id, AnswerRow.position],
        set_={
            "answer": new.answer,
            "step": new.step,
            "version": new.version,
            "first_saved_at": func.coalesce(AnswerRow.first_saved_at, new.first_saved_at),
            "saved_at": new.saved_at,
            "decisions": new.decisions,
            "reported_ms": func.coalesce(new.reported_ms, AnswerRow.reported_ms),
        },
        where=_IS_AS_IT_WAS,
    ).returning(AnswerRow.version)
    if not keeps_revision:
        return Statement(saved)
    stored = saved.cte("saved")
    revision = {
        "assignment_id": bindparam("assignment_id", type_=AnswerRevisionRow.assignment_id.type),
        "position": bindparam("position", type_=AnswerRevisionRow.position.type),
        "version": bindparam("before", type_=AnswerRevisionRow.version.type),
        "answer": bindparam("answer_before", type_=AnswerRevisionRow.answer.type),
        "step": bindparam("step_before", type_=AnswerRevisionRow.step.type),
        "saved_at": bindparam("saved_at_before", type_=AnswerRevisionRow.saved_at.type),
    }
    kept = insert(AnswerRevisionRow).from_select([*revision], select(*revision.values()).select_from(stored))
    return Statement(select(stored.c.version).add_cte(kept.cte("kept")))


_SAVE_FIRST, _SAVE_NEXT = _save(keeps_revision=False), _save(keeps_revision=True)
_opening = insert(AnswerRow).values(
    assignment_id=bindparam("assignment_id"),
    position=bindparam("position"),
    answer=bindparam("answer"),
    step=constant(1),
    version=constant(0),
    served_at=bindparam("at"),
    opened_at=bindparam("opened_at"),
)
_OPEN = Statement(
    _opening.on_conflict_do_update(
        index_elements=[AnswerRow.assignment_id, AnswerRow.position],
        set_={
            "served_at": func.coalesce(AnswerRow.served_at, _opening.excluded.served_at),
            "opened_at": _opening.excluded.opened_at,
        },
        where=_IS_AS_IT_WAS,
    ).returning(AnswerRow.version)
)
_first_time = insert(AnswerRow).values(
    assignment_id=bindparam("assignment_id"),
    position=bindparam("position"),
    answer=bindparam("answer"),
    step=constant(1),
    version=constant(0),
    served_at=bindparam("at"),
    active_ms=bindparam("milliseconds"),
)
_ADD_ACTIVE_TIME = Statement(
    _first_time.on_conflict_do_update(
        index_elements=[AnswerRow.assignment_id, AnswerRow.position],
        set_={
            "served_at": func.coalesce(AnswerRow.served_at, _first_time.excluded.served_at),
            "active_ms": AnswerRow.active_ms + _first_time.excluded.active_ms,
        },
    )
)


async def put_draft(
    runner: Runner,
    assignment_id: UUID,
    item: AnsweredItem,
    draft: Draft,
    *,
    at: datetime,
    reported_ms: int | None,
) -> bool:
    """Store an item's draft, keep its earlier draft as a revision, and return True.

    Returns False and stores nothing if the stored draft has changed meanwhile, or the lease has ended.
    """
    parameters: Mapping[str, Any] = {
        "assignment_id": assignment_id,
        "position": item.position,
        "answer": Jsonb(draft.answer),
        "step": draft.step,
        "version": draft.version,
        "at": at,
        "reported_ms": reported_ms,
        "decisions": Jsonb(decisions_to_json(draft.decisions)),
        "before": item.draft.version,
        "opened_before": len(item.draft.opened_at),
    }
    if not item.draft.version:
        return bool(await runner.fetch(_SAVE_FIRST, parameters))
    before = {
        "answer_before": Jsonb(item.draft.answer),
        "step_before": item.draft.step,
        "saved_at_before": item.saved_at,
    }
    return bool(await runner.fetch(_SAVE_NEXT, {**parameters, **before}))


async def put_opened(
    session: WriteSession, assignment_id: UUID, item: AnsweredItem, opened_at: Sequence[datetime], *, at: datetime
) -> bool:
    """Store when the exchanges of an item were opened and return True. The first exchange starts the work on the item.

    Returns False and stores nothing if the stored draft has changed meanwhile.
    """
    parameters = {
        "assignment_id": assignment_id,
        "position": item.position,
        "answer": Jsonb({}),
        "at": at,
        "opened_at": [*opened_at],
        "before": item.draft.version,
        "opened_before": len(item.draft.opened_at),
    }
    return bool(await session.fetch(_OPEN, parameters))


async def add_active_time(
    session: WriteSession, assignment_id: UUID, position: int, *, at: datetime, milliseconds: int
) -> None:
    """Store that an item is on the annotator's screen, and add the time since the last report."""
    parameters = {
        "assignment_id": assignment_id,
        "position": position,
        "answer": Jsonb({}),
        "at": at,
        "milliseconds": milliseconds,
    }
    await session.fetch(_ADD_ACTIVE_TIME, parameters)


def draft_of(row: Any) -> Draft:  # noqa: ANN401 - psycopg's row
    """Return the draft in a row with the columns of `DRAFT`; without an answer the columns are empty."""
    if row.version is None:
        return Draft()
    return Draft(row.answer, row.step, row.version, tuple(row.opened_at), decisions_from_json(row.decisions))


def decisions_to_json(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Convert decisions to a JSON column."""
    return [
        {
            "question": each.question,
            "target": each.target,
            "exchanges": each.exchanges,
            "opened_at": each.opened_at.astimezone(UTC).isoformat(),
            "decided_at": each.decided_at.astimezone(UTC).isoformat(),
        }
        for each in decisions
    ]


def decisions_from_json(rows: Sequence[dict[str, Any]]) -> tuple[Decision, ...]:
    """Convert a JSON column to decisions."""
    return tuple(
        Decision(
            row["question"],
            row["target"],
            row["exchanges"],
            datetime.fromisoformat(row["opened_at"]),
            datetime.fromisoformat(row["decided_at"]),
        )
        for row in rows
    )
