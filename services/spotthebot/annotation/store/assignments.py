"""Assignments with their items and drafts, as their annotators see them, and their end."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Row, Select, and_, select, update
from sqlalchemy.orm import aliased

from spotthebot.annotation.domain.answers import Draft
from spotthebot.annotation.domain.assignments import Assignment, Lease, ShownItem, states_before
from spotthebot.annotation.domain.errors import NoSuchAssignment
from spotthebot.annotation.tables import AnnotatorRow, AnswerRow, AssignmentRow, ItemRow
from spotthebot.annotation.tables import ShownConversationRow as ShownRow
from spotthebot.contracts.annotation import CampaignId
from spotthebot.contracts.assignments import AssignmentId, AssignmentState
from spotthebot.contracts.turns import Turn
from spotthebot.kit.database import ReadSession, WriteSession

_ShownRight = aliased(ShownRow)
_LEASE = (
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
)


async def get_lease(session: ReadSession, assignment_id: UUID, frontend: str) -> Lease:
    """Return who holds a package; raises NoSuchAssignment where it is another frontend's."""
    return _lease(await _one(session, _leases(assignment_id, frontend), assignment_id))


async def lock_lease(session: WriteSession, assignment_id: UUID, frontend: str) -> Lease:
    """Return who holds a package and let one request for the assignment at a time pass."""
    statement = _leases(assignment_id, frontend).with_for_update(of=AssignmentRow, key_share=True)
    return _lease(await _one(session, statement, assignment_id))


async def get_assignment(session: ReadSession, assignment_id: UUID, frontend: str) -> Assignment:
    """Return an assignment with its items and what was answered."""
    statement = _leases(assignment_id, frontend).add_columns(AnnotatorRow.external_id)
    row = await _one(session, statement, assignment_id)
    items = (
        select(ItemRow, ShownRow, _ShownRight, AnswerRow)
        .join(
            ShownRow,
            and_(ShownRow.campaign_id == ItemRow.campaign_id, ShownRow.conversation_id == ItemRow.conversation_id),
        )
        .outerjoin(
            _ShownRight,
            and_(
                _ShownRight.campaign_id == ItemRow.campaign_id,
                _ShownRight.conversation_id == ItemRow.right_conversation_id,
            ),
        )
        .outerjoin(AnswerRow, and_(AnswerRow.assignment_id == assignment_id, AnswerRow.position == ItemRow.position))
        .where(ItemRow.package_id == row.package_id)
        .order_by(ItemRow.position)
    )
    return Assignment(
        lease=_lease(row),
        annotator=row.external_id,
        items=tuple(
            ShownItem(
                id=item.id,
                position=item.position,
                turns=_turns(shown, item.exchanges),
                right_turns=None if item.right_exchanges is None else _turns(right, item.right_exchanges),
                draft=Draft() if answer is None else Draft(answer.answer, answer.step, answer.version),
            )
            for item, shown, right, answer in await session.execute(items)
        ),
    )


async def find_last_submitted(session: ReadSession, annotator_id: UUID) -> Lease | None:
    """Return the assignment that an annotator submitted last, if any."""
    statement = (
        select(*_LEASE)
        .where(AssignmentRow.annotator_id == annotator_id, AssignmentRow.state == AssignmentState.SUBMITTED)
        .order_by(AssignmentRow.submitted_at.desc())
        .limit(1)
    )
    row = (await session.execute(statement)).first()
    return None if row is None else _lease(row)


async def extend_lease(session: WriteSession, assignment_id: UUID, expires_at: datetime) -> None:
    """Keep a package for its annotator."""
    await session.execute(update(AssignmentRow).where(AssignmentRow.id == assignment_id).values(expires_at=expires_at))


async def note_sign_of_life(
    session: WriteSession, assignment_id: UUID, *, expires_at: datetime, at: datetime, position: int | None
) -> None:
    """Keep a package for its annotator, and note when they were heard of and with which item on the screen."""
    await session.execute(
        update(AssignmentRow)
        .where(AssignmentRow.id == assignment_id)
        .values(expires_at=expires_at, heard_at=at, heard_position=position)
    )


async def submit(session: WriteSession, assignment_id: UUID, *, at: datetime, completion_code: str) -> None:
    """End an assignment whose items are all answered."""
    await session.execute(
        update(AssignmentRow)
        .where(AssignmentRow.id == assignment_id, AssignmentRow.state.in_(states_before(AssignmentState.SUBMITTED)))
        .values(state=AssignmentState.SUBMITTED, submitted_at=at, completion_code=completion_code)
    )


def _turns(shown: ShownRow, exchanges: int) -> tuple[Turn, ...]:
    return tuple(Turn.model_validate(turn) for turn in [*shown.opening, *shown.turns[: 2 * exchanges]])


def _leases(assignment_id: UUID, frontend: str) -> Select[*tuple[object, ...]]:
    return (
        select(*_LEASE)
        .join(AnnotatorRow, AnnotatorRow.id == AssignmentRow.annotator_id)
        .where(AssignmentRow.id == assignment_id, AnnotatorRow.frontend.in_([frontend, ""]))
    )


async def _one(
    session: ReadSession, statement: Select[*tuple[object, ...]], assignment_id: UUID
) -> Row[*tuple[object, ...]]:
    row = (await session.execute(statement)).first()
    if row is None:
        raise NoSuchAssignment(assignment_id=assignment_id)
    return row


def _lease(row: Row[*tuple[object, ...]]) -> Lease:
    return Lease(
        id=AssignmentId(row.id),
        campaign_id=CampaignId(row.campaign_id),
        package_id=row.package_id,
        annotator_id=row.annotator_id,
        state=AssignmentState(row.state),
        leased_at=row.leased_at,
        expires_at=row.expires_at,
        heard_at=row.heard_at,
        heard_position=row.heard_position,
        submitted_at=row.submitted_at,
        completion_code=row.completion_code,
    )
