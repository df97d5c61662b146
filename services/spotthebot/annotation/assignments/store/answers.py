"""Reads items of assignments with their present answers."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, Integer, Select, and_, bindparam, column, func, or_, select, true
from sqlalchemy.types import TypeEngine

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.assignments.domain.answers import AnsweredItem
from spotthebot.annotation.assignments.domain.assignments import LeasedItem, Progress
from spotthebot.annotation.assignments.domain.gold import Extent, PlacedGold
from spotthebot.annotation.assignments.errors import NoSuchAssignment
from spotthebot.annotation.assignments.store import assignments as assignments_store
from spotthebot.annotation.assignments.store import drafts as drafts_store
from spotthebot.annotation.assignments.store.assignments import LEASE_KEY
from spotthebot.annotation.assignments.tables import AnswerRow, GoldItemRow
from spotthebot.annotation.leases.domain import Lease
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.packages.tables import ItemRow
from spotthebot.contracts.annotation.assignments import HolderIn
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import KeyedStatement, Runner, Statement, constant

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
    """Return the statement that looks up each of several items by its keys, because a join could read whole tables."""
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


async def find_item(
    runner: Runner, assignment_id: UUID, frontend: str, holder: HolderIn | None, position: int
) -> LeasedItem:
    """Return the lease of a package, and the item at a position.

    Raises NoSuchAssignment if the assignment belongs to another frontend, or to an annotator other than `holder`.
    """
    row = await runner.find(_OPEN_ITEM, (*assignments_store.lease_key(assignment_id, frontend, holder), position))
    if row is None:
        raise NoSuchAssignment(assignment_id=assignment_id)
    return _leased(row)


async def list_items(runner: Runner, lease: Lease) -> list[AnsweredItem]:
    """Return the items of an assignment with their answers."""
    rows = await runner.fetch(_ITEMS, {"assignment_id": lease.id, "package_id": lease.package_id})
    return [_item(row) for row in rows]


async def get_progress(session: ReadSession, lease: Lease) -> Progress:
    """Return the time of an assignment's last answer, and whether its annotator is blocked."""
    (row,) = await session.fetch(_PROGRESS, {"assignment_id": lease.id, "annotator_id": lease.annotator_id})
    return Progress(row.answered_at, row.is_blocked)


async def lock_item(
    session: WriteSession, assignment_id: UUID, frontend: str, holder: HolderIn | None, position: int | None
) -> LeasedItem:
    """Return the lease of a package and the item at a position, and serialise requests for the assignment.

    The item has the state that it had when the statement began, before it waited for the lock. Raises NoSuchAssignment
    if the assignment belongs to another frontend, or to an annotator other than `holder`.
    """
    parameters = dict(
        zip(_ITEM_KEY, (*assignments_store.lease_key(assignment_id, frontend, holder), position), strict=True)
    )
    rows = await session.fetch(_LOCKED_ITEM, parameters)
    if not rows:
        raise NoSuchAssignment(assignment_id=assignment_id)
    return _leased(rows[0])


def is_answered() -> ColumnElement[bool]:
    """Return the SQL condition that an annotator answered an item, or opened an exchange of the item."""
    return or_(AnswerRow.saved_at.is_not(None), func.cardinality(AnswerRow.opened_at) > constant(0))


def _leased(row: Any) -> LeasedItem:  # noqa: ANN401 - psycopg's row
    if row.gold_position is not None:
        placed = PlacedGold(row.gold_position, row.dialogue, Extent(row.turns, row.opening))
        return LeasedItem(assignments_store.lease_of(row), gold_item_of(row, placed), placed)
    return LeasedItem(assignments_store.lease_of(row), None if row.item_id is None else _item(row), None)


def gold_item_of(row: Any, placed: PlacedGold) -> AnsweredItem:  # noqa: ANN401 - psycopg's row
    """Return a gold item with the draft in a row.

    `speakers` stays empty, because the training has the gold dialogue.
    """
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
    """Return an item with the draft in the columns of `DRAFT`."""
    return AnsweredItem(
        id=item_id,
        position=position,
        exchanges=exchanges,
        speakers=speakers,
        is_pair=is_pair,
        draft=drafts_store.draft_of(row),
        served_at=row.served_at,
        first_saved_at=row.first_saved_at,
        saved_at=row.saved_at,
        active_ms=row.active_ms or 0,
        reported_ms=row.reported_ms,
    )
