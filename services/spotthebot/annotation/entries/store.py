"""Annotators who entered by a link and have answered nothing in the package that they hold."""

from uuid import UUID

from sqlalchemy import exists, select

from spotthebot.annotation.annotators.tables import AnnotatorRow
from spotthebot.annotation.assignments.store import answers as answers_store
from spotthebot.annotation.assignments.tables import AnswerRow
from spotthebot.annotation.entry_links.tables import EntryRow
from spotthebot.annotation.leases.domain import states_before
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.contracts.annotation.assignments import AssignmentState
from spotthebot.kit.database.sessions import WriteSession


async def lock_idle(session: WriteSession, link_id: UUID) -> list[UUID]:
    """Lock annotators who entered by a link and hold a package without answers; return their ids."""
    answered = exists().where(AnswerRow.assignment_id == AssignmentRow.id, answers_store.is_answered())
    holds_package = exists().where(
        AssignmentRow.annotator_id == AnnotatorRow.id,
        AssignmentRow.state.in_(states_before(AssignmentState.EXPIRED)),
        ~answered,
    )
    entered = exists().where(EntryRow.link_id == link_id, EntryRow.annotator_id == AnnotatorRow.id)
    statement = select(AnnotatorRow.id).where(entered, holds_package).order_by(AnnotatorRow.id)
    return [*await session.scalars(statement.with_for_update(key_share=True))]
