"""Reads assignments with items and drafts, as annotators see them, and locks assignments that are to end."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, String, Uuid, and_, bindparam, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.selectable import LateralFromClause
from sqlalchemy.types import TypeEngine

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.assignments.domain.assignments import Assignment, ShownItem
from spotthebot.annotation.assignments.errors import NoSuchAssignment
from spotthebot.annotation.assignments.store import drafts as drafts_store
from spotthebot.annotation.assignments.tables import AnswerRow
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.conversations.tables import ShownConversationRow as ShownRow
from spotthebot.annotation.leases.domain import Lease
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.packages.tables import ItemRow, PackageRow
from spotthebot.contracts.annotation.assignments import AssignmentState, HolderIn
from spotthebot.contracts.turns import Turn
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Statement, constant

_LOCK_CHECKED = Statement(
    select(AnnotatorRow.id)
    .join(AssignmentRow, AssignmentRow.annotator_id == AnnotatorRow.id)
    .join(CampaignRow, CampaignRow.id == AnnotatorRow.campaign_id)
    .where(
        AssignmentRow.id == bindparam("assignment_id"),
        or_(
            CampaignRow.gold.is_not(None),
            CampaignRow.min_seconds_per_item.is_not(None),
            CampaignRow.min_fraction_of_median.is_not(None),
        ),
    )
    .with_for_update(of=AnnotatorRow, key_share=True)
)
_NOBODYS = UUID(int=0)
"""An assignment that does not exist."""
_LEASE: Sequence[ColumnElement[Any] | InstrumentedAttribute[Any]] = (
    AssignmentRow.id,
    AssignmentRow.campaign_id,
    AssignmentRow.package_id,
    AssignmentRow.annotator_id,
    AssignmentRow.state,
    AssignmentRow.leased_at,
    AssignmentRow.expires_at,
    AssignmentRow.heard_at,
    AssignmentRow.heard_position,
    AssignmentRow.submitted_at,
    AssignmentRow.completion_code,
    AssignmentRow.takes_slot,
    select(CampaignRow.lease_seconds)
    .where(CampaignRow.id == AssignmentRow.campaign_id)
    .scalar_subquery()
    .label("lasts"),
)


async def lock_checked(session: WriteSession, assignment_id: UUID) -> None:
    """Serialise an annotator's submissions and claims, if the campaign checks submitted work."""
    await session.fetch(_LOCK_CHECKED, {"assignment_id": assignment_id})


def select_lease(parts: Mapping[str, ColumnElement[Any]]) -> Select[Any]:
    """Select the lease of an assignment by its `LEASE_KEY`: the frontend and, if given, the annotator."""
    holder = and_(AnnotatorRow.campaign_id == parts["campaign_id"], AnnotatorRow.external_id == parts["annotator"])
    return (
        select(*_LEASE)
        .join(AnnotatorRow, AnnotatorRow.id == AssignmentRow.annotator_id)
        .where(
            AssignmentRow.id == parts["assignment_id"],
            AnnotatorRow.frontend == parts["frontend"],
            or_(parts["annotator"].is_(None), holder),
        )
    )


LEASE_KEY: Mapping[str, TypeEngine[Any]] = {
    "assignment_id": Uuid(),
    "frontend": String(),
    "campaign_id": Uuid(),
    "annotator": String(),
}
_LEASES = select_lease({name: bindparam(name, type_=type_) for name, type_ in LEASE_KEY.items()})
_LOCKED = Statement(_LEASES.with_for_update(of=AssignmentRow, key_share=True))
_WITH_ANNOTATOR = Statement(_LEASES.add_columns(AnnotatorRow.external_id))
_LOCKED_OF_CAMPAIGN = Statement(
    select(*_LEASE)
    .where(AssignmentRow.campaign_id == bindparam("campaign_id"), AssignmentRow.id == bindparam("assignment_id"))
    .with_for_update(key_share=True)
)
_LAST_SUBMITTED = Statement(
    select(*_LEASE)
    .where(
        AssignmentRow.annotator_id == bindparam("annotator_id"),
        AssignmentRow.state == constant(AssignmentState.SUBMITTED),
    )
    .order_by(AssignmentRow.submitted_at.desc())
    .limit(constant(1))
)


def _conversation(
    conversation_id: InstrumentedAttribute[UUID] | InstrumentedAttribute[UUID | None],
) -> LateralFromClause:
    """Return the conversation of an item, looked up by key for each item.

    A plain join may read all conversations of a campaign until PostgreSQL has statistics of the table.
    """
    return (
        select(ShownRow.opening, ShownRow.turns)
        .where(ShownRow.campaign_id == ItemRow.campaign_id, ShownRow.conversation_id == conversation_id)
        .limit(constant(1))
        .lateral()
    )


_left, _right = _conversation(ItemRow.conversation_id), _conversation(ItemRow.right_conversation_id)
_ITEMS = Statement(
    select(
        ItemRow.id,
        ItemRow.position,
        ItemRow.exchanges,
        ItemRow.right_exchanges,
        _left.c.opening,
        _left.c.turns,
        _right.c.opening.label("right_opening"),
        _right.c.turns.label("right_turns"),
        AnswerRow.answer,
        AnswerRow.step,
        AnswerRow.version,
        AnswerRow.opened_at,
        AnswerRow.decisions,
    )
    .select_from(ItemRow)
    .join(_left, true())
    .outerjoin(_right, true())
    .outerjoin(
        AnswerRow, and_(AnswerRow.assignment_id == bindparam("assignment_id"), AnswerRow.position == ItemRow.position)
    )
    .where(ItemRow.package_id == bindparam("package_id"))
    .order_by(ItemRow.position)
)
_TURNS = Statement(
    select(ShownRow.opening, ShownRow.turns)
    .join(
        ItemRow,
        and_(ShownRow.campaign_id == ItemRow.campaign_id, ShownRow.conversation_id == ItemRow.conversation_id),
    )
    .where(ItemRow.package_id == bindparam("package_id"), ItemRow.position == bindparam("position"))
)


def lease_key(assignment_id: UUID, frontend: str, holder: HolderIn | None) -> tuple[UUID, str, UUID | None, str | None]:
    """Return the values for `LEASE_KEY`: the package must be held by `holder`, or by any annotator of the frontend."""
    of_holder = (None, None) if holder is None else (holder.campaign_id, holder.annotator)
    return (assignment_id, frontend, *of_holder)


async def lock_lease(
    session: WriteSession, assignment_id: UUID, frontend: str, holder: HolderIn | None = None
) -> Lease:
    """Return the lease of an assignment, and serialise requests for the assignment.

    Raises NoSuchAssignment if the assignment belongs to another frontend, or to an annotator other than `holder`.
    """
    return lease_of(await _one(session, _LOCKED, assignment_id, frontend, holder))


async def lock_assignment_of(session: WriteSession, campaign_id: UUID, assignment_id: UUID) -> Lease:
    """Return the lease of an assignment, which may have ended, and serialise requests for the assignment.

    Raises NoSuchAssignment.
    """
    rows = await session.fetch(_LOCKED_OF_CAMPAIGN, {"campaign_id": campaign_id, "assignment_id": assignment_id})
    if not rows:
        raise NoSuchAssignment(assignment_id=assignment_id)
    return lease_of(rows[0])


async def list_assignments(session: ReadSession, annotator_id: UUID, *, after: UUID | None, limit: int) -> list[Lease]:
    """Return the assignments of an annotator, oldest first."""
    statement = (
        select(*_LEASE).where(AssignmentRow.annotator_id == annotator_id).order_by(AssignmentRow.id).limit(limit)
    )
    if after is not None:
        statement = statement.where(AssignmentRow.id > after)
    return [lease_of(row) for row in await session.execute(statement)]


async def get_assignment(session: ReadSession, assignment_id: UUID, frontend: str) -> Assignment:
    """Return an assignment with its items and answers; raises NoSuchAssignment."""
    row = await _one(session, _WITH_ANNOTATOR, assignment_id, frontend)
    items = await _shown_items(session, row.package_id, assignment_id)
    return Assignment(lease=lease_of(row), annotator=row.external_id, items=items)


async def list_first_items(session: ReadSession, campaign_id: UUID) -> tuple[ShownItem, ...]:
    """Return the items, without answers, of the package that a campaign gives out first."""
    first = select(PackageRow.id).where(PackageRow.campaign_id == campaign_id).order_by(PackageRow.id).limit(1)
    package_id = await session.scalar(first)
    return () if package_id is None else await _shown_items(session, package_id, _NOBODYS)


async def _shown_items(session: ReadSession, package_id: UUID, assignment_id: UUID) -> tuple[ShownItem, ...]:
    return tuple(
        ShownItem(
            id=item.id,
            position=item.position,
            opening=_turns(item.opening),
            later_turns=_turns(item.turns[: 2 * item.exchanges]),
            right_turns=None
            if item.right_exchanges is None
            else _turns([*item.right_opening, *item.right_turns[: 2 * item.right_exchanges]]),
            draft=drafts_store.draft_of(item),
        )
        for item in await session.fetch(_ITEMS, {"assignment_id": assignment_id, "package_id": package_id})
    )


async def find_turns(session: ReadSession, package_id: UUID, position: int, *, exchanges: int) -> tuple[Turn, ...]:
    """Return the turns of a package's item up to an exchange, opening included; empty if there is no item."""
    rows = await session.fetch(_TURNS, {"package_id": package_id, "position": position})
    return tuple(turn for row in rows for turn in _turns([*row.opening, *row.turns[: 2 * exchanges]]))


async def find_last_submitted(session: ReadSession, annotator_id: UUID) -> Lease | None:
    """Return the assignment that an annotator submitted last, if any."""
    rows = await session.fetch(_LAST_SUBMITTED, {"annotator_id": annotator_id})
    return lease_of(rows[0]) if rows else None


def _turns(stored: list[dict[str, Any]]) -> tuple[Turn, ...]:
    """Convert stored turns, which were validated when they were stored."""
    return tuple(Turn.model_construct(**turn) for turn in stored)


async def _one(
    session: ReadSession, statement: Statement, assignment_id: UUID, frontend: str, holder: HolderIn | None = None
) -> Any:  # noqa: ANN401 - psycopg's row
    key = zip(LEASE_KEY, lease_key(assignment_id, frontend, holder), strict=True)
    rows = await session.fetch(statement, dict(key))
    if not rows:
        raise NoSuchAssignment(assignment_id=assignment_id)
    return rows[0]


def lease_of(row: Any) -> Lease:  # noqa: ANN401 - psycopg's row
    """Return the lease in a row with the columns of `select_lease`."""
    return from_row(Lease, row, state=AssignmentState(row.state), lasts=timedelta(seconds=row.lasts))
