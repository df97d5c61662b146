"""The client of `annotation`: protocols, campaigns, packages, assignments, annotations, subscriptions."""

from typing import Unpack
from urllib.parse import quote
from uuid import UUID

from spotthebot.clients.client import AsyncClient, Client, ServiceOperations
from spotthebot.clients.operations import Call, Download, Listing, ListOrder, Ndjson, Paging, operation
from spotthebot.clients.subscriptions import SubscriptionOperations
from spotthebot.clients.trainings import TrainingOperations
from spotthebot.contracts.annotation.annotations import AnnotationOut, AnnotationsRevisionOut
from spotthebot.contracts.annotation.assignments import (
    AnnotatorOut,
    AnnotatorQualityOut,
    AnswerIn,
    AppealIn,
    AppealOut,
    AssignmentOut,
    AssignmentSummaryOut,
    AuditEntryOut,
    BlockIn,
    ClaimIn,
    ExchangeIn,
    ExchangeOut,
    HeartbeatIn,
    LeaseOut,
    RejectionIn,
    SavedOut,
    SubmissionIn,
    SubmittedOut,
    SubmittedTexts,
)
from spotthebot.contracts.annotation.campaign_changes import CampaignChangesIn
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut
from spotthebot.contracts.annotation.entries import (
    ConsentIn,
    ConsentOut,
    ConsentWithdrawalIn,
    EntryIn,
    EntryLinkIn,
    EntryLinkOut,
    EntryLinkStateOut,
    EntryOut,
)
from spotthebot.contracts.annotation.exports import AnnotatorNames, ExportedRows
from spotthebot.contracts.annotation.packages import PackageOut
from spotthebot.contracts.annotation.payments import BonusIn, BonusOut, PaymentFile, PaymentOut
from spotthebot.contracts.annotation.previews import CampaignPreviewOut, PackagePreviewOut
from spotthebot.contracts.annotation.protocols import ProtocolIn, ProtocolOut, ProtocolSummaryOut
from spotthebot.contracts.annotation.uploads import AnnotationBatchIn, PackageBatchIn
from spotthebot.contracts.batches import StoredOut
from spotthebot.kit.exports.formats import ExportFormat


class AnnotationOperations(SubscriptionOperations, TrainingOperations, ServiceOperations):
    """The operations of `annotation`."""

    peer = "annotation"

    @operation
    def list_campaigns(
        self,
        *,
        name: str | None = None,
        released: bool | None = None,
        published: bool | None = None,
        collection_id: UUID | None = None,
        order: ListOrder | None = None,
        **paging: Unpack[Paging],
    ) -> Listing[CampaignOut]:
        """List campaigns, oldest first; `released`, `published`: whose results teams, or all, may see, or may not."""
        asked = {
            "name": name,
            "released": released,
            "published": published,
            "collection_id": collection_id,
            "order": order,
        }
        return Listing(CampaignOut, "/v1/campaigns", paging, params=asked)

    @operation
    def create_campaign(self, campaign: CampaignIn, *, idempotency_key: str | None = None) -> Call[CampaignOut]:
        """Create a campaign over a collection; its packages are made in the background."""
        return Call(CampaignOut, "POST", "/v1/campaigns", body=campaign, idempotency_key=idempotency_key)

    @operation
    def get_campaign(self, campaign_id: UUID) -> Call[CampaignOut]:
        """Return a campaign and its counts."""
        return Call(CampaignOut, "GET", f"/v1/campaigns/{campaign_id}")

    @operation
    def change_campaign(self, campaign_id: UUID, changes: CampaignChangesIn) -> Call[CampaignOut]:
        """Change a campaign by a merge patch: keys that are left out stay, None brings a default back."""
        return Call(CampaignOut, "PATCH", f"/v1/campaigns/{campaign_id}", body=changes)

    @operation
    def delete_campaign(self, campaign_id: UUID) -> Call[None]:
        """Delete a draft that nobody entered."""
        return Call(type(None), "DELETE", f"/v1/campaigns/{campaign_id}")

    @operation
    def preview_package(self, campaign_id: UUID) -> Call[PackagePreviewOut]:
        """Return the first package as annotators will see it."""
        return Call(PackagePreviewOut, "GET", f"/v1/campaigns/{campaign_id}/preview/package")

    @operation
    def close_campaign(self, campaign_id: UUID, *, idempotency_key: str | None = None) -> Call[CampaignOut]:
        """End a campaign with the annotations it has."""
        return Call(CampaignOut, "POST", f"/v1/campaigns/{campaign_id}/close", idempotency_key=idempotency_key)

    @operation
    def release_results(self, campaign_id: UUID, *, idempotency_key: str | None = None) -> Call[CampaignOut]:
        """Let teams see the results of a campaign that has ended and that their bots take part in."""
        path = f"/v1/campaigns/{campaign_id}/results/release"
        return Call(CampaignOut, "POST", path, idempotency_key=idempotency_key)

    @operation
    def publish_results(self, campaign_id: UUID, *, idempotency_key: str | None = None) -> Call[CampaignOut]:
        """Let everybody see the results of a campaign that has ended, without a key."""
        path = f"/v1/campaigns/{campaign_id}/results/publish"
        return Call(CampaignOut, "POST", path, idempotency_key=idempotency_key)

    @operation
    def withdraw_results(self, campaign_id: UUID, *, idempotency_key: str | None = None) -> Call[CampaignOut]:
        """Let neither teams nor the public see the results of a campaign any more."""
        path = f"/v1/campaigns/{campaign_id}/results/withdraw"
        return Call(CampaignOut, "POST", path, idempotency_key=idempotency_key)

    @operation
    def list_packages(self, campaign_id: UUID, **paging: Unpack[Paging]) -> Listing[PackageOut]:
        """List the packages of a campaign with their segments."""
        return Listing(PackageOut, f"/v1/campaigns/{campaign_id}/packages", paging)

    @operation
    def import_packages(
        self, campaign_id: UUID, batch: PackageBatchIn, *, idempotency_key: str | None = None
    ) -> Call[StoredOut]:
        """Add packages to an import campaign; packages that are there already stay as they are."""
        path = f"/v1/campaigns/{campaign_id}/packages"
        return Call(StoredOut, "POST", path, body=batch, idempotency_key=idempotency_key)

    @operation
    def list_annotations(
        self, campaign_id: UUID, *, conversation_id: UUID | None = None, **paging: Unpack[Paging]
    ) -> Listing[AnnotationOut]:
        """List the annotations of a campaign, or those of one conversation."""
        only = {"conversation_id": conversation_id}
        return Listing(AnnotationOut, f"/v1/campaigns/{campaign_id}/annotations", paging, params=only)

    @operation
    def stream_annotations(self, campaign_id: UUID) -> Ndjson[AnnotationOut]:
        """Stream all annotations of a campaign; annotators have pseudonyms."""
        return Ndjson(AnnotationOut, f"/v1/campaigns/{campaign_id}/annotations/stream")

    @operation
    def export_campaign(
        self,
        campaign_id: UUID,
        form: ExportFormat = ExportFormat.NDJSON,
        *,
        rows: ExportedRows = ExportedRows.ANNOTATIONS,
        annotators: AnnotatorNames = AnnotatorNames.PSEUDONYMS,
    ) -> Download:
        """Download all annotations of a campaign, their values or what its packages show, as one file."""
        params = {"format": form.value, "rows": rows.value, "annotators": annotators.value}
        return Download(f"/v1/campaigns/{campaign_id}/export", params=params)

    @operation
    def annotations_revision(self, campaign_id: UUID) -> Call[AnnotationsRevisionOut]:
        """Return which annotations a campaign has now: equal revisions stand for equal annotations."""
        return Call(AnnotationsRevisionOut, "GET", f"/v1/campaigns/{campaign_id}/annotations/revision")

    @operation
    def import_annotations(
        self, campaign_id: UUID, batch: AnnotationBatchIn, *, idempotency_key: str | None = None
    ) -> Call[StoredOut]:
        """Add annotations to an import campaign; annotations that are there already stay as they are."""
        path = f"/v1/campaigns/{campaign_id}/annotations"
        return Call(StoredOut, "POST", path, body=batch, idempotency_key=idempotency_key)

    @operation
    def preview_campaign(self, campaign_id: UUID) -> Call[CampaignPreviewOut]:
        """Return what a campaign will take: packages, annotators, hours and money."""
        return Call(CampaignPreviewOut, "GET", f"/v1/campaigns/{campaign_id}/preview")

    @operation
    def open_campaign(self, campaign_id: UUID, *, idempotency_key: str | None = None) -> Call[CampaignOut]:
        """Let packages of a draft or of a paused campaign be claimed."""
        return Call(CampaignOut, "POST", f"/v1/campaigns/{campaign_id}/open", idempotency_key=idempotency_key)

    @operation
    def pause_campaign(self, campaign_id: UUID, *, idempotency_key: str | None = None) -> Call[CampaignOut]:
        """Let no package be claimed until the campaign is opened again."""
        return Call(CampaignOut, "POST", f"/v1/campaigns/{campaign_id}/pause", idempotency_key=idempotency_key)

    @operation
    def claim_package(
        self, campaign_id: UUID, claim: ClaimIn, *, idempotency_key: str | None = None
    ) -> Call[AssignmentOut]:
        """Claim a package for an annotator, who gets the same one again until it is submitted."""
        path = f"/v1/campaigns/{campaign_id}/assignments"
        return Call(AssignmentOut, "POST", path, body=claim, idempotency_key=idempotency_key).changing_once()

    @operation
    def get_assignment(self, assignment_id: UUID) -> Call[AssignmentOut]:
        """Return an assignment with the items of its package and what was saved."""
        return Call(AssignmentOut, "GET", f"/v1/assignments/{assignment_id}")

    @operation
    def save_answer(self, assignment_id: UUID, position: int, answer: AnswerIn) -> Call[SavedOut]:
        """Save the answer to an item, in place of what was saved before."""
        return Call(SavedOut, "PUT", f"/v1/assignments/{assignment_id}/items/{position}", body=answer)

    @operation
    def open_exchange(self, assignment_id: UUID, position: int, exchange: ExchangeIn) -> Call[ExchangeOut]:
        """Open the next exchange of an item, or show one again that is open."""
        path = f"/v1/assignments/{assignment_id}/items/{position}/exchanges"
        return Call(ExchangeOut, "POST", path, body=exchange).changing_once()

    @operation
    def keep_assignment(self, assignment_id: UUID, heartbeat: HeartbeatIn) -> Call[LeaseOut]:
        """Keep a package whose annotator is at work."""
        path = f"/v1/assignments/{assignment_id}/heartbeat"
        return Call(LeaseOut, "POST", path, body=heartbeat).changing_once()

    @operation
    def submit_assignment(self, assignment_id: UUID, submission: SubmissionIn | None = None) -> Call[SubmittedOut]:
        """Submit a package whose items are all answered; submitted again, it answers the same."""
        path = f"/v1/assignments/{assignment_id}/submit"
        return Call(SubmittedOut, "POST", path, body=submission).changing_once()

    @operation
    def create_entry_link(
        self, campaign_id: UUID, link: EntryLinkIn, *, idempotency_key: str | None = None
    ) -> Call[EntryLinkOut]:
        """Make a signed link by which annotators enter a campaign."""
        path = f"/v1/campaigns/{campaign_id}/entry-links"
        return Call(EntryLinkOut, "POST", path, body=link, idempotency_key=idempotency_key)

    @operation
    def list_entry_links(
        self, campaign_id: UUID, *, order: ListOrder | None = None, **paging: Unpack[Paging]
    ) -> Listing[EntryLinkStateOut]:
        """List the links into a campaign with how many people entered by each, oldest first."""
        path = f"/v1/campaigns/{campaign_id}/entry-links"
        return Listing(EntryLinkStateOut, path, paging, params={"order": order})

    @operation
    def revoke_entry_link(self, campaign_id: UUID, link_id: UUID) -> Call[None]:
        """Let nobody come by a link any more, nor claim who came by it."""
        return Call(type(None), "DELETE", f"/v1/campaigns/{campaign_id}/entry-links/{link_id}")

    @operation
    def enter_campaign(self, entry: EntryIn) -> Call[EntryOut]:
        """Return who came with these query parameters, and what comes next."""
        return Call(EntryOut, "POST", "/v1/entries", body=entry)

    @operation
    def give_consent(self, campaign_id: UUID, consent: ConsentIn) -> Call[ConsentOut]:
        """Note that an annotator consents to the campaign's text."""
        return Call(ConsentOut, "POST", f"/v1/campaigns/{campaign_id}/consents", body=consent)

    @operation
    def withdraw_consent(self, campaign_id: UUID, withdrawal: ConsentWithdrawalIn) -> Call[ConsentOut]:
        """Take an annotator's consent back: the package that they hold goes to others."""
        return Call(ConsentOut, "POST", f"/v1/campaigns/{campaign_id}/consents/withdraw", body=withdrawal)

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
        """List the annotators of a campaign: all, or those of this id, `blocked` or not, who `appealed` or did not."""
        params = {"annotator": annotator, "blocked": blocked, "appealed": appealed}
        return Listing(AnnotatorOut, f"/v1/campaigns/{campaign_id}/annotators", paging, params=params)

    @operation
    def get_annotator_quality(self, campaign_id: UUID, annotator_id: UUID) -> Call[AnnotatorQualityOut]:
        """Return what is known of an annotator's work so far."""
        return Call(AnnotatorQualityOut, "GET", f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/quality")

    @operation
    def block_annotator(
        self, campaign_id: UUID, annotator_id: UUID, reason: BlockIn, *, idempotency_key: str | None = None
    ) -> Call[AnnotatorOut]:
        """Let an annotator claim nothing more."""
        path = f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/block"
        return Call(AnnotatorOut, "POST", path, body=reason, idempotency_key=idempotency_key)

    @operation
    def unblock_annotator(
        self, campaign_id: UUID, annotator_id: UUID, reason: BlockIn, *, idempotency_key: str | None = None
    ) -> Call[AnnotatorOut]:
        """Let an annotator who was blocked claim packages again."""
        path = f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/unblock"
        return Call(AnnotatorOut, "POST", path, body=reason, idempotency_key=idempotency_key)

    @operation
    def list_assignments(
        self, campaign_id: UUID, annotator_id: UUID, **paging: Unpack[Paging]
    ) -> Listing[AssignmentSummaryOut]:
        """List the packages that an annotator was given, oldest first."""
        path = f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/assignments"
        return Listing(AssignmentSummaryOut, path, paging)

    @operation
    def reject_assignment(
        self, campaign_id: UUID, assignment_id: UUID, reason: RejectionIn, *, idempotency_key: str | None = None
    ) -> Call[AssignmentSummaryOut]:
        """Let submitted work not count; another annotator gets the package."""
        path = f"/v1/campaigns/{campaign_id}/assignments/{assignment_id}/reject"
        return Call(AssignmentSummaryOut, "POST", path, body=reason, idempotency_key=idempotency_key)

    @operation
    def grant_bonus(
        self, campaign_id: UUID, annotator_id: UUID, bonus: BonusIn, *, idempotency_key: str | None = None
    ) -> Call[BonusOut]:
        """Grant an annotator a bonus."""
        path = f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/bonuses"
        return Call(BonusOut, "POST", path, body=bonus, idempotency_key=idempotency_key)

    @operation
    def list_payments(self, campaign_id: UUID, **paging: Unpack[Paging]) -> Listing[PaymentOut]:
        """List what annotators get."""
        return Listing(PaymentOut, f"/v1/campaigns/{campaign_id}/payments", paging)

    @operation
    def download_payments(self, campaign_id: UUID, kind: PaymentFile) -> Call[str]:
        """Return a CSV file as the campaign's panel takes it."""
        return Call(str, "GET", f"/v1/campaigns/{campaign_id}/payments/file", params={"kind": kind.value})

    @operation
    def erase_annotator(
        self,
        campaign_id: UUID,
        annotator_id: UUID,
        *,
        submitted_texts: SubmittedTexts = SubmittedTexts.ERASE,
        idempotency_key: str | None = None,
    ) -> Call[AnnotatorOut]:
        """Erase the person behind an annotator, in every campaign; their labels stay."""
        path = f"/v1/campaigns/{campaign_id}/annotators/{annotator_id}/erase"
        params = {"submitted_texts": submitted_texts.value}
        return Call(AnnotatorOut, "POST", path, params=params, idempotency_key=idempotency_key)

    @operation
    def appeal_block(self, campaign_id: UUID, appeal: AppealIn) -> Call[AppealOut]:
        """Leave the note of an annotator who is blocked, or failed the training for good."""
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
        """List the decisions that touched a person or a label: of one kind, about one annotator, or all."""
        params = {"action": action, "annotator_id": annotator_id, "order": order}
        return Listing(AuditEntryOut, f"/v1/campaigns/{campaign_id}/audit", paging, params=params)

    @operation
    def list_protocols(self, *, name: str | None = None, **paging: Unpack[Paging]) -> Listing[ProtocolSummaryOut]:
        """List versions of protocols: those that are built in, then stored ones, oldest first."""
        return Listing(ProtocolSummaryOut, "/v1/protocols", paging, params={"name": name})

    @operation
    def create_protocol(self, protocol: ProtocolIn, *, idempotency_key: str | None = None) -> Call[ProtocolOut]:
        """Store a version of a protocol, which never changes; the same document again changes nothing."""
        return Call(ProtocolOut, "POST", "/v1/protocols", body=protocol, idempotency_key=idempotency_key)

    @operation
    def get_protocol(self, name: str, version: int) -> Call[ProtocolOut]:
        """Return one version of a protocol, built in or stored."""
        return Call(ProtocolOut, "GET", f"/v1/protocols/{quote(name, safe='')}/versions/{version}")

    @operation
    def get_protocol_schema(self) -> Call[str]:
        """Return the JSON Schema of protocols, for editors and validators."""
        return Call(str, "GET", "/v1/protocols/schema")


class Annotation(AnnotationOperations, Client):
    """The client of `annotation`."""


class AsyncAnnotation(AnnotationOperations, AsyncClient):
    """The client of `annotation` on an event loop."""
