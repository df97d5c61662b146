"""Annotators, their work and their pay, as administrators see them."""

from typing import Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, IdempotencyKey, Listing, ListOrder, Paging, operation
from spotthebot.contracts.annotation.assignments import (
    AnnotatorOut,
    AnnotatorQualityOut,
    AppealIn,
    AppealOut,
    AssignmentSummaryOut,
    BlockIn,
    RejectionIn,
)
from spotthebot.contracts.annotation.audit import AuditEntryOut
from spotthebot.contracts.annotation.payments import BonusIn, BonusOut, PaymentOut
from spotthebot.contracts.terms import PaymentFile, SubmittedTexts


class AnnotatorOperations:
    """Annotators, their work and their pay, as administrators see them."""

    @operation
    def list_annotators(
        self,
        campaign_id: UUID,
        *,
        annotator: str | None = None,
        blocked: bool | None = None,
        appealed: bool | None = None,
        **paging: Unpack[Paging],
    ) -> Listing[AnnotatorOut]:
        """List the annotators of a campaign; each given criterion selects among them.

        `annotator` is an id. `blocked` and `appealed` are True or False: whether the annotator is blocked, or has
        appealed.
        """
        params = {"annotator": annotator, "blocked": blocked, "appealed": appealed}
        return Listing(AnnotatorOut, f"/v1/campaigns/{campaign_id}/annotators", paging, params=params)

    @operation
    def get_annotator_quality(self, campaign_id: UUID, annotator_id: UUID) -> Call[AnnotatorQualityOut]:
        """Return the quality of an annotator's work so far."""
        return Call(AnnotatorQualityOut, "GET", f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/quality")

    @operation
    def block_annotator(
        self, campaign_id: UUID, annotator_id: UUID, reason: BlockIn, **key: Unpack[IdempotencyKey]
    ) -> Call[AnnotatorOut]:
        """Stop an annotator from claiming further packages."""
        path = f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/block"
        return Call(AnnotatorOut, "POST", path, body=reason, **key)

    @operation
    def unblock_annotator(
        self, campaign_id: UUID, annotator_id: UUID, reason: BlockIn, **key: Unpack[IdempotencyKey]
    ) -> Call[AnnotatorOut]:
        """Let a blocked annotator claim packages again."""
        path = f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/unblock"
        return Call(AnnotatorOut, "POST", path, body=reason, **key)

    @operation
    def list_assignments(
        self, campaign_id: UUID, annotator_id: UUID, **paging: Unpack[Paging]
    ) -> Listing[AssignmentSummaryOut]:
        """List the assignments of an annotator, oldest first."""
        path = f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/assignments"
        return Listing(AssignmentSummaryOut, path, paging)

    @operation
    def reject_assignment(
        self, campaign_id: UUID, assignment_id: UUID, reason: RejectionIn, **key: Unpack[IdempotencyKey]
    ) -> Call[AssignmentSummaryOut]:
        """Reject submitted work: it does not count, and another annotator gets the package."""
        path = f"/v1/campaigns/{campaign_id}/assignments/{assignment_id}/reject"
        return Call(AssignmentSummaryOut, "POST", path, body=reason, **key)

    @operation
    def grant_bonus(
        self, campaign_id: UUID, annotator_id: UUID, bonus: BonusIn, **key: Unpack[IdempotencyKey]
    ) -> Call[BonusOut]:
        """Grant an annotator a bonus."""
        path = f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/bonuses"
        return Call(BonusOut, "POST", path, body=bonus, **key)

    @operation
    def list_payments(self, campaign_id: UUID, **paging: Unpack[Paging]) -> Listing[PaymentOut]:
        """List the payments to annotators."""
        return Listing(PaymentOut, f"/v1/campaigns/{campaign_id}/payments", paging)

    @operation
    def download_payments(self, campaign_id: UUID, kind: PaymentFile) -> Call[str]:
        """Return a CSV file in the format of the campaign's panel."""
        return Call(str, "GET", f"/v1/campaigns/{campaign_id}/payments/file", params={"kind": kind.value})

    @operation
    def erase_annotator(
        self,
        campaign_id: UUID,
        annotator_id: UUID,
        *,
        submitted_texts: SubmittedTexts = SubmittedTexts.ERASE,
        **key: Unpack[IdempotencyKey],
    ) -> Call[AnnotatorOut]:
        """Erase the personal data of an annotator in every campaign; the labels that this person gave stay."""
        path = f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/erase"
        params = {"submitted_texts": submitted_texts.value}
        return Call(AnnotatorOut, "POST", path, params=params, **key)

    @operation
    def appeal_block(self, campaign_id: UUID, appeal: AppealIn) -> Call[AppealOut]:
        """Submit the appeal of an annotator who is blocked, or who failed the training for good."""
        return Call(AppealOut, "POST", f"/v1/campaigns/{campaign_id}/appeals", body=appeal)

    @operation
    def list_audit_entries(
        self,
        campaign_id: UUID,
        *,
        action: str | None = None,
        annotator_id: UUID | None = None,
        order: ListOrder | None = None,
        **paging: Unpack[Paging],
    ) -> Listing[AuditEntryOut]:
        """List the decisions about persons and labels.

        `action` selects one kind of decision, `annotator_id` the decisions about one annotator.
        """
        params = {"action": action, "annotator_id": annotator_id, "order": order}
        return Listing(AuditEntryOut, f"/v1/campaigns/{campaign_id}/audit", paging, params=params)
