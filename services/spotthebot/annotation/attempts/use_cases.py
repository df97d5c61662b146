"""The training of a campaign: start it, answer its dialogues, get feedback.

An administrator grants an extra attempt by its number. So a repeated request grants it only once, and nobody can get
several attempts in advance.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.domain import Annotator
from spotthebot.annotation.annotators.use_cases import protocol_by_annotator
from spotthebot.annotation.attempts import store
from spotthebot.annotation.attempts.domain import Attempt, SavedAnswer, TrainingResults, require_grantable, state_after
from spotthebot.annotation.attempts.errors import NoTraining, TrainingNotPassed, TrainingNotStarted
from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.entry_links.domain.panels import require_id
from spotthebot.annotation.entry_links.use_cases import lock_annotator, require_link
from spotthebot.annotation.protocols.domain.answers import check_answer, missing
from spotthebot.annotation.protocols.errors import InvalidAnswer
from spotthebot.annotation.trainings import store as trainings_store
from spotthebot.annotation.trainings.domain.grades import Grade, grade, mistakes, shape_of_dialogue
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.requirements import RequiredTraining
from spotthebot.contracts.annotation.trainings import (
    MAX_WORKFORCES,
    Training,
    TrainingAnswerIn,
    TrainingStartIn,
    TrainingState,
)
from spotthebot.kit.database.sessions import ReadSession, WriteSession


@dataclass(frozen=True)
class TrainingTask:
    """An attempt of an annotator, and how many attempts remain after it."""

    campaign: Campaign
    protocol: AnnotationProtocol
    training: Training
    attempt: Attempt
    attempts_left: int


@dataclass(frozen=True)
class Feedback:
    """The right and wrong parts of an answer to a dialogue, and the state of the attempt after it."""

    position: int
    grades: tuple[Grade, ...]
    state: TrainingState


@dataclass(frozen=True)
class TrainingRecord:
    """All attempts of an annotator at the training, and how many attempts were granted and how many are left."""

    attempts: tuple[Attempt, ...]
    granted: int
    attempts_left: int


async def start_training(
    session: WriteSession, campaign_id: UUID, frontend: str, request: TrainingStartIn, *, now: datetime
) -> TrainingTask:
    """Start an attempt at the campaign's training. If none may be started, return the running or the last attempt.

    Raises NoTraining. Like a claim, it also raises CampaignClosed, AnnotatorBlocked, ConsentRequired, NotEntered and
    EntryLinkRevoked.
    """
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    required = _required(campaign)
    campaign.require_claims()
    require_id(campaign.panel, request.annotator)
    annotator = await _lock_annotator(session, campaign_id, frontend, request)
    await require_link(session, request.link)
    annotator.require_unblocked()
    annotator.require_consent(campaign)
    last = await store.find_last_attempt(session, annotator.id)
    allowed = annotator.allowed_attempts(campaign)
    if last is None or last.may_follow(allowed):
        await store.add_attempt(session, annotator.id, last.number + 1 if last else 1, at=now)
    *_, attempt = await store.list_attempts(session, annotator.id)
    return TrainingTask(
        campaign,
        (await protocol_by_annotator(session, campaign.id))(annotator.id),
        await _training_of(session, required),
        attempt,
        attempts_left=allowed - attempt.number,
    )


async def answer_dialogue(
    session: WriteSession,
    campaign_id: UUID,
    frontend: str,
    request: TrainingAnswerIn,
    *,
    position: int,
    key_id: UUID,
    now: datetime,
) -> Feedback:
    """Save the final answer to a dialogue, and return its feedback. A repeat changes nothing.

    Raises TrainingNotStarted, NoSuchTrainingDialogue, TrainingDialogueNotShown, TrainingAnswerFinal and InvalidAnswer.
    """
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    training = await _training_of(session, _required(campaign))
    protocol = (await terms_of(session, campaign.id)).protocol
    answer, attempt = request.answer, request.attempt
    annotator = await _lock_annotator(session, campaign_id, frontend, request)
    attempts = await store.list_attempts(session, annotator.id)
    if not 0 < attempt <= len(attempts):
        raise TrainingNotStarted(attempt=attempt)
    is_new = attempts[attempt - 1].require_answerable(training, position, answer)
    dialogue = training.dialogues[position]
    if is_new:
        campaign.require_claims()
        await require_link(session, request.link)
        annotator.require_unblocked()
        annotator.require_consent(campaign)
        shape = shape_of_dialogue(dialogue)
        faults = check_answer(protocol, shape, answer, at="/answer") or missing(protocol, shape, answer, at="/answer")
        if faults:
            raise InvalidAnswer(fields=faults)
    grades = grade(training, protocol, dialogue, answer)
    state = state_after(training, position, mistakes(grades))
    if is_new:
        saved = SavedAnswer(position, answer, mistakes(grades), now)
        await store.add_answer(session, annotator.id, attempt, saved)
        if state is not TrainingState.IN_PROGRESS:
            await store.end_attempt(session, annotator.id, attempt, state, at=now)
            if state is TrainingState.FAILED:
                # An appeal against an earlier block or failure does not apply to this failure.
                await annotators_store.clear_appeal(session, annotator.id)
            await audit_store.add(
                session,
                campaign_id,
                key_id=key_id,
                action="training.passed" if state is TrainingState.PASSED else "training.failed",
                annotator_id=annotator.id,
                training=f"{training.name}, version {training.version}",
                attempt=str(attempt),
                mistakes=str(saved.mistakes),
            )
    return Feedback(position, grades, state)


async def grant_attempt(
    session: WriteSession, campaign_id: UUID, annotator_id: UUID, number: int, reason: str, *, key_id: UUID
) -> TrainingRecord:
    """Grant one more attempt to an annotator who failed the last attempt. A repeat changes nothing.

    Raises NoSuchAnnotator, AnnotatorErased, NoTraining and AttemptNotFailed.
    """
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    required = _required(campaign)
    annotator = await annotators_store.lock_annotator_by_id(session, campaign_id, annotator_id)
    annotator.require_known()
    last = await store.find_last_attempt(session, annotator_id)
    if require_grantable(number, last, annotator.allowed_attempts(campaign)):
        await annotators_store.set_granted_attempts(session, annotator_id, number - required.attempts)
        await audit_store.add(
            session,
            campaign_id,
            key_id=key_id,
            action="training.attempt_granted",
            annotator_id=annotator_id,
            attempt=str(number),
            reason=reason,
        )
    return await get_record(session, campaign_id, annotator_id)


async def get_results(session: ReadSession, campaign_id: UUID) -> TrainingResults:
    """Return how the workforces of a campaign did in its training. Raises NoSuchCampaign and NoTraining."""
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    training = await _training_of(session, _required(campaign))
    workforces = await store.list_workforces(
        session, campaign_id, allowed_mistakes=training.allowed_mistakes, limit=MAX_WORKFORCES
    )
    return TrainingResults(training.name, training.version, training.allowed_mistakes, workforces)


async def require_passed(session: ReadSession, campaign: Campaign, annotator: Annotator) -> None:
    """Raise TrainingNotPassed or TrainingFailed unless the annotator passed the campaign's training, if any."""
    if campaign.training is None:
        return
    last = await store.find_last_attempt(session, annotator.id)
    if last is None:
        raise TrainingNotPassed
    last.require_passed(annotator.allowed_attempts(campaign))


async def has_passed(session: ReadSession, campaign: Campaign, annotator_id: UUID) -> bool:
    """Return whether an annotator passed the campaign's training, or needs no training."""
    if campaign.training is None:
        return True
    last = await store.find_last_attempt(session, annotator_id)
    return last is not None and last.state is TrainingState.PASSED


async def has_failed(session: ReadSession, campaign: Campaign, annotator: Annotator) -> bool:
    """Return whether an annotator failed the campaign's training and has no attempt left."""
    if campaign.training is None:
        return False
    last = await store.find_last_attempt(session, annotator.id)
    return last is not None and last.is_last_failure(annotator.allowed_attempts(campaign))


async def get_record(session: ReadSession, campaign_id: UUID, annotator_id: UUID) -> TrainingRecord:
    """Return the attempts of an annotator with their answers, in order; raises NoSuchAnnotator."""
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    annotator = await annotators_store.get_annotator(session, campaign_id, annotator_id)
    attempts = await store.list_attempts(session, annotator.id)
    is_passed = any(each.state is TrainingState.PASSED for each in attempts)
    left = 0 if is_passed else annotator.allowed_attempts(campaign) - len(attempts)
    return TrainingRecord(tuple(attempts), annotator.granted_attempts, left)


async def _lock_annotator(
    session: WriteSession, campaign_id: UUID, frontend: str, request: TrainingStartIn | TrainingAnswerIn
) -> Annotator:
    """Return an annotator, and serialise their requests until this transaction ends."""
    annotator_id, _ = await lock_annotator(session, campaign_id, frontend, request)
    return await annotators_store.get_annotator(session, campaign_id, annotator_id)


def _required(campaign: Campaign) -> RequiredTraining:
    if campaign.training is None:
        raise NoTraining(name=campaign.name)
    return campaign.training


async def _training_of(session: ReadSession, required: RequiredTraining) -> Training:
    return (await trainings_store.get_training(session, required.name, required.version or 1)).training
