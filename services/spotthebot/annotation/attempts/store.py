"""Annotators' attempts at the training of their campaign, and their answers, which are final."""

from collections import defaultdict
from dataclasses import asdict
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.attempts.domain import Attempt, DialogueResult, SavedAnswer, Workforce, states_before
from spotthebot.annotation.attempts.tables import TrainingAnswerRow, TrainingAttemptRow
from spotthebot.annotation.entry_links.store import WORKERS
from spotthebot.contracts.annotation.trainings import TrainingState
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def list_attempts(session: ReadSession, annotator_id: UUID) -> list[Attempt]:
    """Return the attempts of an annotator with their answers, in order."""
    mine = select(TrainingAnswerRow).where(TrainingAnswerRow.annotator_id == annotator_id)
    answers: dict[int, list[SavedAnswer]] = defaultdict(list)
    for row in await session.scalars(mine.order_by(TrainingAnswerRow.position)):
        answers[row.attempt].append(from_row(SavedAnswer, row))
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
        insert(TrainingAnswerRow).values(annotator_id=annotator_id, attempt=attempt, **asdict(answer))
    )


async def end_attempt(
    session: WriteSession, annotator_id: UUID, attempt: int, state: TrainingState, *, at: datetime
) -> None:
    """Store that an attempt was passed or failed."""
    await session.execute(
        update(TrainingAttemptRow)
        .where(
            TrainingAttemptRow.annotator_id == annotator_id,
            TrainingAttemptRow.attempt == attempt,
            TrainingAttemptRow.state.in_(states_before(state)),
        )
        .values(state=state, ended_at=func.greatest(TrainingAttemptRow.started_at, at))
    )


async def list_workforces(
    session: ReadSession, campaign_id: UUID, *, allowed_mistakes: int, limit: int
) -> tuple[Workforce, ...]:
    """Return the workforces of a campaign whose people started the training, the largest first."""
    given = {"campaign_id": campaign_id, "allowed_mistakes": allowed_mistakes}
    answered: dict[tuple[str, UUID | None], list[DialogueResult]] = defaultdict(list)
    rows = await session.execute(text(f"{WORKERS} {_DIALOGUES}"), given)
    for frontend, link, *counts in rows:
        answered[frontend, link].append(DialogueResult(*counts))
    rows = await session.execute(text(f"{WORKERS} {_OUTCOMES}"), given | {"limit": limit})
    return tuple(from_row(Workforce, row, dialogues=tuple(answered[row.frontend, row.link])) for row in rows)


_OUTCOMES = """
    SELECT w.frontend, w.link, count(*) AS people,
        count(*) FILTER (WHERE last.state = 'passed') AS passed,
        count(*) FILTER (WHERE last.state = 'passed' AND last.attempt = 1) AS passed_first,
        count(*) FILTER (WHERE last.state = 'failed') AS failed
    FROM workers AS w JOIN LATERAL (
        SELECT t.state, t.attempt FROM annotation.training_attempts AS t
        WHERE t.annotator_id = w.id ORDER BY t.attempt DESC LIMIT 1
    ) AS last ON true
    GROUP BY w.frontend, w.link ORDER BY people DESC, w.frontend, w.link LIMIT :limit
"""
_DIALOGUES = """
    SELECT w.frontend, w.link, t.position, count(*), count(*) FILTER (WHERE t.mistakes <= :allowed_mistakes),
        sum(t.mistakes)
    FROM workers AS w JOIN annotation.training_answers AS t ON t.annotator_id = w.id AND t.attempt = 1
    GROUP BY w.frontend, w.link, t.position ORDER BY t.position
"""
