"""Operations on the trainings that annotators pass before a campaign lets them work."""

from typing import Unpack
from urllib.parse import quote
from uuid import UUID

from spotthebot.clients.operations import Call, IdempotencyKey, Listing, Paging, operation
from spotthebot.contracts.annotation.trainings import (
    FeedbackOut,
    TrainingAnswerIn,
    TrainingGrantIn,
    TrainingIn,
    TrainingOut,
    TrainingRecordOut,
    TrainingResultsOut,
    TrainingStartIn,
    TrainingSummaryOut,
    TrainingTaskOut,
)


class TrainingOperations:
    """`/v1/trainings`, and an annotator's own training below `/v1/campaigns`."""

    @operation
    def list_trainings(self, *, name: str | None = None, **paging: Unpack[Paging]) -> Listing[TrainingSummaryOut]:
        """List versions of trainings, oldest first."""
        return Listing(TrainingSummaryOut, "/v1/trainings", paging, params={"name": name})

    @operation
    def create_training(self, training: TrainingIn, **key: Unpack[IdempotencyKey]) -> Call[TrainingOut]:
        """Store a version of a training, which never changes. Sending the same document again changes nothing."""
        return Call(TrainingOut, "POST", "/v1/trainings", body=training, **key)

    @operation
    def get_training(self, name: str, version: int) -> Call[TrainingOut]:
        """Return one version of a training with its right answers."""
        return Call(TrainingOut, "GET", f"/v1/trainings/{quote(name, safe='')}/versions/{version}")

    @operation
    def start_training(
        self, campaign_id: UUID, start: TrainingStartIn, **key: Unpack[IdempotencyKey]
    ) -> Call[TrainingTaskOut]:
        """Start a campaign's training, or continue it."""
        return Call(TrainingTaskOut, "POST", f"/v1/campaigns/{campaign_id}/training", body=start, **key)

    @operation
    def answer_training(self, campaign_id: UUID, position: int, answer: TrainingAnswerIn) -> Call[FeedbackOut]:
        """Store the final answer to a dialogue of the training; return which of its values are right and wrong."""
        return Call(FeedbackOut, "PUT", f"/v1/campaigns/{campaign_id}/training/dialogues/{position}", body=answer)

    @operation
    def get_training_record(self, campaign_id: UUID, annotator_id: UUID) -> Call[TrainingRecordOut]:
        """Return all attempts and answers of an annotator in the training."""
        return Call(TrainingRecordOut, "GET", f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/training")

    @operation
    def get_training_results(self, campaign_id: UUID) -> Call[TrainingResultsOut]:
        """Return the pass rates of a campaign's training by workforce, and what people did in each dialogue."""
        return Call(TrainingResultsOut, "GET", f"/v1/campaigns/{campaign_id}/training/results")

    @operation
    def grant_training_attempt(
        self,
        campaign_id: UUID,
        annotator_id: UUID,
        attempt: int,
        reason: TrainingGrantIn,
        **key: Unpack[IdempotencyKey],
    ) -> Call[TrainingRecordOut]:
        """Let an annotator who failed the last attempt at the training start another one."""
        path = f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/training/attempts/{attempt}"
        return Call(TrainingRecordOut, "PUT", path, body=reason, **key)
