"""The training of a campaign for annotation frontends, and its record for administrators."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path

from spotthebot.annotation.attempts import use_cases
from spotthebot.annotation.attempts.domain import Attempt
from spotthebot.annotation.attempts.use_cases import (
    Feedback,
    TrainingRecord,
    TrainingTask,
    answer_dialogue,
    get_record,
    grant_attempt,
)
from spotthebot.annotation.deps import Admin, AdminReader, Claimer, Frontend, frontend_of
from spotthebot.annotation.trainings.domain.grades import mistakes
from spotthebot.contracts.annotation.trainings import (
    MAX_ATTEMPTS,
    MAX_DIALOGUES,
    FeedbackOut,
    SavedTrainingAnswerOut,
    TargetFeedbackOut,
    TrainingAnswerIn,
    TrainingAttemptOut,
    TrainingGrantIn,
    TrainingRecordOut,
    TrainingStartIn,
    TrainingState,
    TrainingTaskOut,
)
from spotthebot.kit.web.core.times import Now
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["tasks"], route_class=IdempotentRoute)

Position = Annotated[int, Path(ge=0, lt=MAX_DIALOGUES, description="The dialogue's position in the training.")]
AttemptNumber = Annotated[
    int, Path(ge=1, le=MAX_ATTEMPTS, description="The attempt that follows the one which the annotator failed last.")
]


@router.post("/training", operation_id="start_training")
async def start_training(
    session: Writing, caller: Claimer, now: Now, campaign_id: UUID, request: TrainingStartIn
) -> TrainingTaskOut:
    """Begin the campaign's training, go on with it, or begin the next attempt where one is left."""
    task = await use_cases.start_training(session, campaign_id, frontend_of(caller), request, now=now)
    return _task_out(task)


@router.put("/training/dialogues/{position}", operation_id="answer_training")
async def answer_training(
    session: Writing,
    caller: Frontend,
    now: Now,
    campaign_id: UUID,
    position: Position,
    request: TrainingAnswerIn,
) -> FeedbackOut:
    """Answer a dialogue of the training for good, and get what is right and wrong in it; the same again, the same."""
    feedback = await answer_dialogue(
        session,
        campaign_id,
        frontend_of(caller),
        request,
        position=position,
        key_id=caller.key_id,
        now=now,
    )
    return _feedback_out(feedback)


@router.get("/annotators/{annotator_id}/training", operation_id="get_training_record", tags=["annotators"])
async def get_training_record(
    session: Reading, _caller: AdminReader, campaign_id: UUID, annotator_id: UUID
) -> TrainingRecordOut:
    """Return all that an annotator did in the campaign's training."""
    return _record_out(await get_record(session, campaign_id, annotator_id))


@router.put(
    "/annotators/{annotator_id}/training/attempts/{attempt}",
    operation_id="grant_training_attempt",
    tags=["annotators"],
)
async def grant_training_attempt(
    session: Writing,
    caller: Admin,
    campaign_id: UUID,
    annotator_id: UUID,
    attempt: AttemptNumber,
    request: TrainingGrantIn,
) -> TrainingRecordOut:
    """Let an annotator who failed the last attempt at the training begin the next one; sent again it grants no more."""
    record = await grant_attempt(session, campaign_id, annotator_id, attempt, request.reason, key_id=caller.key_id)
    return _record_out(record)


def _record_out(record: TrainingRecord) -> TrainingRecordOut:
    return TrainingRecordOut(
        attempts=tuple(_attempt_out(each) for each in record.attempts),
        granted=record.granted,
        attempts_left=record.attempts_left,
    )


def _task_out(task: TrainingTask) -> TrainingTaskOut:
    position = len(task.attempt.answers) if task.attempt.state is TrainingState.IN_PROGRESS else None
    shown = None if position is None else task.training.dialogues[position]
    return TrainingTaskOut(
        state=task.attempt.state,
        attempt=task.attempt.number,
        attempts_left=task.attempts_left,
        dialogues=len(task.training.dialogues),
        position=position,
        turns=() if shown is None else shown.turns,
        right_turns=None if shown is None else shown.right_turns,
        instructions=task.campaign.instructions,
        protocol=task.protocol,
    )


def _feedback_out(feedback: Feedback) -> FeedbackOut:
    return FeedbackOut(
        position=feedback.position,
        mistakes=mistakes(feedback.grades),
        targets=tuple(
            TargetFeedbackOut(
                target=each.target,
                given=each.given,
                right=each.right,
                is_right=each.is_right,
                explanation=each.explanation,
            )
            for each in feedback.grades
        ),
        state=feedback.state,
    )


def _attempt_out(attempt: Attempt) -> TrainingAttemptOut:
    return TrainingAttemptOut(
        attempt=attempt.number,
        state=attempt.state,
        started_at=attempt.started_at,
        ended_at=attempt.ended_at,
        answers=tuple(
            SavedTrainingAnswerOut(
                position=each.position, answer=each.answer, mistakes=each.mistakes, answered_at=each.answered_at
            )
            for each in attempt.answers
        ),
    )
