"""Work on packages: claims, answers, submissions."""

from uuid import UUID

from spotthebot.clients.operations import Call, operation
from spotthebot.contracts.annotation.assignments import (
    AnswerIn,
    AssignmentOut,
    ClaimIn,
    ExchangeIn,
    ExchangeOut,
    HeartbeatIn,
    LeaseOut,
    SavedOut,
    SubmissionIn,
    SubmittedOut,
)


class AssignmentOperations:
    """Work on packages: claims, answers, submissions."""

    @operation
    def claim_package(
        self, campaign_id: UUID, claim: ClaimIn, *, idempotency_key: str | None = None
    ) -> Call[AssignmentOut]:
        """Claim a package for an annotator. Until it is submitted, each further claim returns the same package."""
        path = f"/v1/campaigns/{campaign_id}/assignments"
        return Call(AssignmentOut, "POST", path, body=claim, idempotency_key=idempotency_key).changing_once()

    @operation
    def get_assignment(self, assignment_id: UUID) -> Call[AssignmentOut]:
        """Return an assignment with the items of its package and the saved answers."""
        return Call(AssignmentOut, "GET", f"/v1/assignments/{assignment_id}")

    @operation
    def save_answer(self, assignment_id: UUID, position: int, answer: AnswerIn) -> Call[SavedOut]:
        """Save the answer to an item. It replaces an earlier answer to this item."""
        return Call(SavedOut, "PUT", f"/v1/assignments/{assignment_id}/items/{position}", body=answer)

    @operation
    def open_exchange(self, assignment_id: UUID, position: int, exchange: ExchangeIn) -> Call[ExchangeOut]:
        """Open the next exchange of an item. For an exchange that is already open, return it again."""
        path = f"/v1/assignments/{assignment_id}/items/{position}/exchanges"
        return Call(ExchangeOut, "POST", path, body=exchange).changing_once()

    @operation
    def keep_assignment(self, assignment_id: UUID, heartbeat: HeartbeatIn) -> Call[LeaseOut]:
        """Extend the lease of a package while its annotator is working."""
        path = f"/v1/assignments/{assignment_id}/heartbeat"
        return Call(LeaseOut, "POST", path, body=heartbeat).changing_once()

    @operation
    def submit_assignment(self, assignment_id: UUID, submission: SubmissionIn | None = None) -> Call[SubmittedOut]:
        """Submit a package whose items are all answered. A repeated submission returns the same answer."""
        path = f"/v1/assignments/{assignment_id}/submit"
        return Call(SubmittedOut, "POST", path, body=submission).changing_once()
