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
from spotthebot.annotation.deps import Admin, AdminReader, Claimer, Frontend, Reader
from spotthebot.annotation.trainings.domain.grades import mistakes
from spotthebot.contracts.annotation.trainings import (
    MAX_ATTEMPTS,
    MAX_DIALOGUES,
    FeedbackOut,
    TrainingAnswerIn,
    TrainingAttemptOut,
    TrainingGrantIn,
    TrainingRecordOut,
    TrainingResultsOut,
    TrainingStartIn,
    TrainingState,
    TrainingTaskOut,
    WorkforceResultOut,
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
    """Start or continue the campaign's training.

    After a failed attempt, start the next attempt if another attempt is left.
    """
    task = await use_cases.start_training(session, campaign_id, caller.owner, request, now=now)
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
    """Save the final answer to a dialogue of the training, and return its feedback.

    A repeat returns the same feedback.
    """
    feedback = await answer_dialogue(
        session,
        campaign_id,
        caller.owner,
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
    """Return an annotator's attempts at the campaign's training, with their answers."""
    return _record_out(await get_record(session, campaign_id, annotator_id))


@router.get("/training/results", operation_id="get_training_results", tags=["annotators"])
async def get_training_results(session: Reading, _caller: Reader, campaign_id: UUID) -> TrainingResultsOut:
    """Return the pass rates of the campaign's training by workforce: frontend and shared link."""
    found = await use_cases.get_results(session, campaign_id)
    return TrainingResultsOut.of(found, workforces=tuple(WorkforceResultOut.of(each) for each in found.workforces))


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
    """Grant one more attempt to an annotator who failed the last attempt. A repeat grants nothing more."""
    record = await grant_attempt(session, campaign_id, annotator_id, attempt, request.reason, key_id=caller.key_id)
    return _record_out(record)


def _record_out(record: TrainingRecord) -> TrainingRecordOut:
    return TrainingRecordOut.of(record, attempts=tuple(_attempt_out(each) for each in record.attempts))


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
    return FeedbackOut.of(feedback, mistakes=mistakes(feedback.grades), targets=feedback.grades)


def _attempt_out(attempt: Attempt) -> TrainingAttemptOut:
    return TrainingAttemptOut.of(attempt, attempt=attempt.number)
