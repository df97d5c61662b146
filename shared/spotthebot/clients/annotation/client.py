"""The client of `annotation`."""

from typing import Unpack
from urllib.parse import quote
from uuid import UUID

from spotthebot.clients.annotation.annotators import AnnotatorOperations
from spotthebot.clients.annotation.campaigns import CampaignOperations
from spotthebot.clients.client import AsyncClient, Client, ServiceOperations
from spotthebot.clients.operations import Call, IdempotencyKey, Listing, ListOrder, Paging, operation
from spotthebot.clients.subscriptions import SubscriptionOperations
from spotthebot.clients.trainings import TrainingOperations
from spotthebot.contracts.annotation.assignments import (
    AnswerIn,
    AssignmentOut,
    ClaimIn,
    ExchangeIn,
    ExchangeOut,
    HeartbeatIn,
    JudgeSubmissionIn,
    LeaseOut,
    ReleaseIn,
    SavedOut,
    SubmissionIn,
    SubmittedOut,
)
from spotthebot.contracts.annotation.entries import (
    AnnotatorWorkforceOut,
    ConsentIn,
    ConsentOut,
    ConsentWithdrawalIn,
    EntryIn,
    EntryLinkIn,
    EntryLinkOut,
    EntryLinkStateOut,
    EntryOut,
)
from spotthebot.contracts.annotation.judges import JudgeIn, JudgeVersionOut
from spotthebot.contracts.annotation.protocols import ProtocolIn, ProtocolOut, ProtocolSummaryOut
from spotthebot.contracts.annotation.studies import StudyIn, StudyOut


class AnnotationOperations(
    CampaignOperations,
    AnnotatorOperations,
    SubscriptionOperations,
    TrainingOperations,
    ServiceOperations,
):
    """The operations of `annotation`."""

    peer = "annotation"

    @operation
    def claim_package(self, campaign_id: UUID, claim: ClaimIn, **key: Unpack[IdempotencyKey]) -> Call[AssignmentOut]:
        """Claim a package for an annotator. Until it is submitted, each further claim returns the same package."""
        path = f"/v1/campaigns/{campaign_id}/assignments"
        return Call(AssignmentOut, "POST", path, body=claim, **key).changing_once()

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
    def keep_assignment(self, assignment_id: UUID, heartbeat: HeartbeatIn | None = None) -> Call[LeaseOut]:
        """Extend the lease of a package while its annotator is working."""
        return Call(LeaseOut, "POST", f"/v1/assignments/{assignment_id}/heartbeat", body=heartbeat).changing_once()

    @operation
    def release_assignment(self, assignment_id: UUID, release: ReleaseIn | None = None) -> Call[LeaseOut]:
        """Give a package back before its lease ends, so that others may get it. Saved answers are kept."""
        return Call(LeaseOut, "POST", f"/v1/assignments/{assignment_id}/release", body=release).changing_once()

    @operation
    def submit_assignment(self, assignment_id: UUID, submission: SubmissionIn | None = None) -> Call[SubmittedOut]:
        """Submit a package whose items are all answered. A repeated submission returns the same answer."""
        return Call(SubmittedOut, "POST", f"/v1/assignments/{assignment_id}/submit", body=submission).changing_once()

    @operation
    def create_entry_link(
        self, campaign_id: UUID, link: EntryLinkIn, **key: Unpack[IdempotencyKey]
    ) -> Call[EntryLinkOut]:
        """Make a signed link by which annotators enter a campaign."""
        return Call(EntryLinkOut, "POST", f"/v1/campaigns/{campaign_id}/entry-links", body=link, **key)

    @operation
    def list_entry_links(
        self, campaign_id: UUID, *, order: ListOrder | None = None, **paging: Unpack[Paging]
    ) -> Listing[EntryLinkStateOut]:
        """List the entry links of a campaign, oldest first, each with the number of people who entered by it."""
        return Listing(EntryLinkStateOut, f"/v1/campaigns/{campaign_id}/entry-links", paging, params={"order": order})

    @operation
    def revoke_entry_link(self, campaign_id: UUID, link_id: UUID) -> Call[None]:
        """Revoke a link: nobody can enter by it, and people who entered by it can't claim packages."""
        return Call(type(None), "DELETE", f"/v1/campaigns/{campaign_id}/entry-links/{link_id}")

    @operation
    def list_workforces(self, campaign_id: UUID, **paging: Unpack[Paging]) -> Listing[AnnotatorWorkforceOut]:
        """List the annotators of a campaign by their pseudonyms, each with their frontend and shared link."""
        return Listing(AnnotatorWorkforceOut, f"/v1/campaigns/{campaign_id}/workforces", paging)

    @operation
    def enter_campaign(self, entry: EntryIn) -> Call[EntryOut]:
        """Let a person enter the campaign that the query parameters of their visit name.

        Return the annotator and the next steps.
        """
        return Call(EntryOut, "POST", "/v1/entries", body=entry)

    @operation
    def give_consent(self, campaign_id: UUID, consent: ConsentIn) -> Call[ConsentOut]:
        """Record that an annotator consents to the campaign's text."""
        return Call(ConsentOut, "POST", f"/v1/campaigns/{campaign_id}/consents", body=consent)

    @operation
    def withdraw_consent(self, campaign_id: UUID, withdrawal: ConsentWithdrawalIn) -> Call[ConsentOut]:
        """Withdraw an annotator's consent. A package that they have claimed goes to other annotators."""
        return Call(ConsentOut, "POST", f"/v1/campaigns/{campaign_id}/consents/withdraw", body=withdrawal)

    @operation
    def list_protocols(self, *, name: str | None = None, **paging: Unpack[Paging]) -> Listing[ProtocolSummaryOut]:
        """List versions of protocols: built-in ones, then stored ones, oldest first."""
        return Listing(ProtocolSummaryOut, "/v1/protocols", paging, params={"name": name})

    @operation
    def create_protocol(self, protocol: ProtocolIn, **key: Unpack[IdempotencyKey]) -> Call[ProtocolOut]:
        """Store a version of a protocol, which never changes. Sending the same document again changes nothing."""
        return Call(ProtocolOut, "POST", "/v1/protocols", body=protocol, **key)

    @operation
    def get_protocol(self, name: str, version: int) -> Call[ProtocolOut]:
        """Return one version of a protocol, built in or stored."""
        return Call(ProtocolOut, "GET", f"/v1/protocols/{quote(name, safe='')}/versions/{version}")

    @operation
    def get_protocol_schema(self) -> Call[str]:
        """Return the JSON Schema of protocols, for editors and validators."""
        return Call(str, "GET", "/v1/protocols/schema")

    @operation
    def create_judge(self, judge: JudgeIn, **key: Unpack[IdempotencyKey]) -> Call[JudgeVersionOut]:
        """Store the next version of a judge. The same settings are the same version."""
        return Call(JudgeVersionOut, "POST", "/v1/judges", body=judge, **key)

    @operation
    def list_judges(self, *, name: str | None = None, **paging: Unpack[Paging]) -> Listing[JudgeVersionOut]:
        """List versions of judges, oldest first; with `name`, only those of one judge."""
        return Listing(JudgeVersionOut, "/v1/judges", paging, params={"name": name})

    @operation
    def get_judge(self, name: str, version: int) -> Call[JudgeVersionOut]:
        """Return a version of a judge."""
        return Call(JudgeVersionOut, "GET", f"/v1/judges/{name}/versions/{version}")

    @operation
    def submit_judge_labels(self, assignment_id: UUID, labels: JudgeSubmissionIn) -> Call[SubmittedOut]:
        """Submit the package that a judge holds: all items, with probabilities. A repeat returns the same answer."""
        return Call(SubmittedOut, "POST", f"/v1/assignments/{assignment_id}/judge-labels", body=labels).changing_once()

    @operation
    def list_studies(self, *, name: str | None = None, **paging: Unpack[Paging]) -> Listing[StudyOut]:
        """List studies, oldest first."""
        return Listing(StudyOut, "/v1/studies", paging, params={"name": name})

    @operation
    def create_study(self, study: StudyIn, **key: Unpack[IdempotencyKey]) -> Call[StudyOut]:
        """Create a study of existing campaigns."""
        return Call(StudyOut, "POST", "/v1/studies", body=study, **key)

    @operation
    def get_study(self, study_id: UUID) -> Call[StudyOut]:
        """Return a study: its campaigns, its chats and its outcome."""
        return Call(StudyOut, "GET", f"/v1/studies/{study_id}")

    @operation
    def replace_study(self, study_id: UUID, study: StudyIn) -> Call[StudyOut]:
        """Replace what a study says, for example to add a task."""
        return Call(StudyOut, "PUT", f"/v1/studies/{study_id}", body=study)

    @operation
    def delete_study(self, study_id: UUID) -> Call[None]:
        """Delete a study; its campaigns stay."""
        return Call(type(None), "DELETE", f"/v1/studies/{study_id}")


class Annotation(AnnotationOperations, Client):
    """The client of `annotation`."""


class AsyncAnnotation(AnnotationOperations, AsyncClient):
    """The client of `annotation` on an event loop."""
