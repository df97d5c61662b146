"""Annotators' attempts at the training of their campaign, and their answers, which are final."""

from collections import defaultdict
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.attempts.domain import Attempt, SavedAnswer, states_before
from spotthebot.annotation.attempts.tables import TrainingAnswerRow, TrainingAttemptRow
from spotthebot.contracts.annotation.trainings import TrainingState
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def list_attempts(session: ReadSession, annotator_id: UUID) -> list[Attempt]:
    """Return the attempts of an annotator with their answers, in order."""
    mine = select(TrainingAnswerRow).where(TrainingAnswerRow.annotator_id == annotator_id)
    answers: dict[int, list[SavedAnswer]] = defaultdict(list)
    for row in await session.scalars(mine.order_by(TrainingAnswerRow.position)):
        answers[row.attempt].append(SavedAnswer(row.position, row.answer, row.mistakes, row.answered_at))
    attempts = select(TrainingAttemptRow).where(TrainingAttemptRow.annotator_id == annotator_id)
    return [
        Attempt(row.attempt, TrainingState(row.state), row.started_at, row.ended_at, tuple(answers[row.attempt]))
        for row in await session.scalars(attempts.order_by(TrainingAttemptRow.attempt))
    ]


async def find_last_attempt(session: ReadSession, annotator_id: UUID) -> Attempt | None:
    """Return the last attempt of an annotator, without its answers."""
    attempts = select(TrainingAttemptRow).where(TrainingAttemptRow.annotator_id == annotator_id)
    row = await session.scalar(attempts.order_by(TrainingAttemptRow.attempt.desc()).limit(1))
    if row is None:
        return None
    return Attempt(row.attempt, TrainingState(row.state), row.started_at, row.ended_at, ())


async def add_attempt(session: WriteSession, annotator_id: UUID, number: int, *, at: datetime) -> None:
    await session.execute(
        insert(TrainingAttemptRow).values(
            annotator_id=annotator_id, attempt=number, state=TrainingState.IN_PROGRESS, started_at=at
        )
    )


async def add_answer(session: WriteSession, annotator_id: UUID, attempt: int, answer: SavedAnswer) -> None:
    """Save the answer to a dialogue for good."""
    await session.execute(
        insert(TrainingAnswerRow).values(
            annotator_id=annotator_id,
            attempt=attempt,
            position=answer.position,
            answer=answer.answer,
            mistakes=answer.mistakes,
            answered_at=answer.answered_at,
        )
    )


async def end_attempt(
    session: WriteSession, annotator_id: UUID, attempt: int, state: TrainingState, *, at: datetime
) -> None:
    """Note that an attempt was passed or failed."""
    await session.execute(
        update(TrainingAttemptRow)
        .where(
            TrainingAttemptRow.annotator_id == annotator_id,
            TrainingAttemptRow.attempt == attempt,
            TrainingAttemptRow.state.in_(states_before(state)),
        )
        .values(state=state, ended_at=func.greatest(TrainingAttemptRow.started_at, at))
    )
