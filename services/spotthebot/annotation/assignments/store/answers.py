"""Drafts of answers, their revisions, and when items were on the screen."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import ARRAY, ColumnElement, Integer, Select, and_, bindparam, column, func, or_, select, true
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.types import TypeEngine

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.assignments.domain.answers import AnsweredItem, Draft
from spotthebot.annotation.assignments.domain.assignments import LeasedItem, Progress
from spotthebot.annotation.assignments.domain.gold import Extent, PlacedGold
from spotthebot.annotation.assignments.errors import NoSuchAssignment
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.assignments.store import decisions as decisions_store
from spotthebot.annotation.assignments.store.assignments import LEASE_KEY
from spotthebot.annotation.assignments.tables import AnswerRevisionRow, AnswerRow, GoldItemRow
from spotthebot.annotation.leases.domain import Lease
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.packages.tables import ItemRow
from spotthebot.contracts.assignments import AssignmentState, HolderIn
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.statements import KeyedStatement, Runner, Statement, constant

DRAFT = (
    AnswerRow.answer,
    AnswerRow.step,
    AnswerRow.version,
    AnswerRow.served_at,
    AnswerRow.first_saved_at,
    AnswerRow.saved_at,
    AnswerRow.active_ms,
    AnswerRow.reported_ms,
    AnswerRow.opened_at,
    AnswerRow.decisions,
)
_ITEM = (
    ItemRow.id.label("item_id"),
    ItemRow.position,
    ItemRow.exchanges,
    ItemRow.speakers,
    ItemRow.right_conversation_id.is_not(None).label("is_pair"),
    *DRAFT,
)
_ITEMS = Statement(
    select(*_ITEM)
    .outerjoin(
        AnswerRow, and_(AnswerRow.assignment_id == bindparam("assignment_id"), AnswerRow.position == ItemRow.position)
    )
    .where(ItemRow.package_id == bindparam("package_id"))
    .order_by(ItemRow.position)
)


_ITEM_KEY: Mapping[str, TypeEngine[Any]] = {**LEASE_KEY, "position": Integer()}


def _leased_item(parts: Mapping[str, ColumnElement[Any]]) -> Select[Any]:
    position = parts["position"]
    return (
        assignments_store.select_lease(parts)
        .add_columns(
            *_ITEM,
            GoldItemRow.position.label("gold_position"),
            GoldItemRow.dialogue,
            GoldItemRow.turns,
            GoldItemRow.opening,
        )
        .outerjoin(ItemRow, and_(ItemRow.package_id == AssignmentRow.package_id, ItemRow.position == position))
        .outerjoin(GoldItemRow, and_(GoldItemRow.assignment_id == AssignmentRow.id, GoldItemRow.position == position))
        .outerjoin(AnswerRow, and_(AnswerRow.assignment_id == AssignmentRow.id, AnswerRow.position == position))
    )


def _open_items() -> KeyedStatement:
    """Return the statement that looks up each of several items by its keys; a join may read whole tables."""
    keys = (
        func.unnest(*(bindparam(name, type_=ARRAY(type_)) for name, type_ in _ITEM_KEY.items()))
        .table_valued(*(column(name, type_) for name, type_ in _ITEM_KEY.items()), with_ordinality="number")
        .render_derived(name="key")
    )
    found = _leased_item(dict(keys.c)).limit(constant(1)).lateral("found")
    return KeyedStatement(select(keys.c.number, found).select_from(keys.join(found, true())), *_ITEM_KEY)


_OPEN_ITEM = _open_items()
_LOCKED_ITEM = Statement(
    _leased_item({name: bindparam(name, type_=type_) for name, type_ in _ITEM_KEY.items()}).with_for_update(
        of=AssignmentRow, key_share=True
    )
)


_IS_AS_IT_WAS = and_(
    AnswerRow.version == bindparam("before"), func.cardinality(AnswerRow.opened_at) == bindparam("opened_before")
)


def _save(*, keeps_revision: bool) -> Statement:
    """Return the statement that stores a draft in place of the version `before`, and that one as a revision.

    It returns a row where the draft was stored: while the lease lasts, which it locks, and if no other save came first.
    As many exchanges are open as were then: what is decided belongs to them.
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
_PROGRESS = Statement(
    select(
        func.greatest(
            func.max(AnswerRow.saved_at), func.max(AnswerRow.opened_at[func.cardinality(AnswerRow.opened_at)])
        ).label("answered_at"),
        select(AnnotatorRow.blocked_at.is_not(None))
        .where(AnnotatorRow.id == bindparam("annotator_id"))
        .scalar_subquery()
        .label("is_blocked"),
    ).where(AnswerRow.assignment_id == bindparam("assignment_id"))
)
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


async def find_item(
    runner: Runner, assignment_id: UUID, frontend: str, holder: HolderIn | None, position: int
) -> LeasedItem:
    """Return who holds a package, and the item at a position.

    Raises NoSuchAssignment where it is another frontend's, or another annotator's than the `holder`'s.
    """
    row = await runner.find(_OPEN_ITEM, (*assignments_store.lease_key(assignment_id, frontend, holder), position))
    if row is None:
        raise NoSuchAssignment(assignment_id=assignment_id)
    return _leased(row)


async def list_items(runner: Runner, lease: Lease) -> list[AnsweredItem]:
    """Return the items of an assignment with what was answered."""
    rows = await runner.fetch(_ITEMS, {"assignment_id": lease.id, "package_id": lease.package_id})
    return [_item(row) for row in rows]


async def get_progress(session: ReadSession, lease: Lease) -> Progress:
    """Return when the last answer of an assignment was given, and whether its annotator is blocked."""
    (row,) = await session.fetch(_PROGRESS, {"assignment_id": lease.id, "annotator_id": lease.annotator_id})
    return Progress(row.answered_at, row.is_blocked)


async def lock_item(
    session: WriteSession, assignment_id: UUID, frontend: str, holder: HolderIn | None, position: int | None
) -> LeasedItem:
    """Return who holds a package and the item at a position, and let one request for the assignment at a time pass.

    The item is as it was when the statement began: before another request let this one pass. Raises NoSuchAssignment
    where it is another frontend's, or another annotator's than the `holder`'s.
    """
    parameters = dict(
        zip(_ITEM_KEY, (*assignments_store.lease_key(assignment_id, frontend, holder), position), strict=True)
    )
    rows = await session.fetch(_LOCKED_ITEM, parameters)
    if not rows:
        raise NoSuchAssignment(assignment_id=assignment_id)
    return _leased(rows[0])


async def put_draft(
    runner: Runner,
    assignment_id: UUID,
    item: AnsweredItem,
    draft: Draft,
    *,
    at: datetime,
    reported_ms: int | None,
) -> bool:
    """Store a draft in place of the item's, which is kept as a revision, and return True.

    False, and nothing is stored, where the draft is no longer the item's, or the lease is over.
    """
    parameters: Mapping[str, Any] = {
        "assignment_id": assignment_id,
        "position": item.position,
        "answer": Jsonb(draft.answer),
        "step": draft.step,
        "version": draft.version,
        "at": at,
        "reported_ms": reported_ms,
        "decisions": Jsonb(decisions_store.to_json(draft.decisions)),
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
    """Note when the exchanges of an item were opened and return True; with the first one the work on it begins.

    False, and nothing is stored, where the draft is no longer the item's.
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
    """Note that an item is on the annotator's screen, and for how much longer it was."""
    parameters = {
        "assignment_id": assignment_id,
        "position": position,
        "answer": Jsonb({}),
        "at": at,
        "milliseconds": milliseconds,
    }
    await session.fetch(_ADD_ACTIVE_TIME, parameters)


def is_answered() -> ColumnElement[bool]:
    """Return the condition that an annotator answered an item, or opened an exchange of it."""
    return or_(AnswerRow.saved_at.is_not(None), func.cardinality(AnswerRow.opened_at) > constant(0))


def _leased(row: Any) -> LeasedItem:  # noqa: ANN401 - psycopg's row
    if row.gold_position is not None:
        placed = PlacedGold(row.gold_position, row.dialogue, Extent(row.turns, row.opening))
        return LeasedItem(assignments_store.lease_of(row), gold_item_of(row, placed), placed)
    return LeasedItem(assignments_store.lease_of(row), None if row.item_id is None else _item(row), None)


def gold_item_of(row: Any, placed: PlacedGold) -> AnsweredItem:  # noqa: ANN401 - psycopg's row
    """Return a gold item without its speakers, which its dialogue has, with the draft in a row."""
    return _answered(row, None, placed.position, "", exchanges=placed.extent.exchanges, is_pair=False)


def _item(row: Any) -> AnsweredItem:  # noqa: ANN401 - psycopg's row
    return _answered(row, row.item_id, row.position, row.speakers, exchanges=row.exchanges, is_pair=row.is_pair)


def _answered(
    row: Any,  # noqa: ANN401 - psycopg's row
    item_id: UUID | None,
    position: int,
    speakers: str,
    *,
    exchanges: int,
    is_pair: bool,
) -> AnsweredItem:
    """Return an item with the draft that the columns of `DRAFT` hold."""
    return AnsweredItem(
        id=item_id,
        position=position,
        exchanges=exchanges,
        speakers=speakers,
        is_pair=is_pair,
        draft=assignments_store.draft_of(row),
        served_at=row.served_at,
        first_saved_at=row.first_saved_at,
        saved_at=row.saved_at,
        active_ms=row.active_ms or 0,
        reported_ms=row.reported_ms,
    )
