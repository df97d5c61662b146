"""The campaigns of `annotation`: their packages, annotations, exports, releases and changes."""

from collections.abc import Sequence
from typing import Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, IdempotencyKey, Listing, ListOrder, Paging, operation
from spotthebot.clients.streams import Download, Ndjson
from spotthebot.contracts.annotation.annotations import AnnotationOut, AnnotationsRevisionOut, SharedAnnotatorsOut
from spotthebot.contracts.annotation.campaign_changes import CampaignChangesIn
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.annotation.exports import AnnotatorNames, ExportedRows
from spotthebot.contracts.annotation.packages import PackageOut
from spotthebot.contracts.annotation.previews import (
    CampaignDryRunIn,
    CampaignEstimateOut,
    CampaignPreviewOut,
    PackagePreviewOut,
)
from spotthebot.contracts.annotation.uploads import AnnotationBatchIn, PackageBatchIn
from spotthebot.contracts.annotation.verdicts import VerdictReportIn
from spotthebot.contracts.batches import StoredOut
from spotthebot.kit.exports.formats import ExportFormat


class CampaignOperations:
    """The campaigns of `annotation`: their packages, annotations, exports, releases and changes."""

    @operation
    def list_campaigns(
        self,
        *,
        name: str | None = None,
        state: CampaignState | None = None,
        released: bool | None = None,
        published: bool | None = None,
        collection_id: UUID | None = None,
        order: ListOrder | None = None,
        **paging: Unpack[Paging],
    ) -> Listing[CampaignOut]:
        """List campaigns, oldest first.

        `released` selects campaigns whose results teams may see, `published` campaigns whose results everybody may see.
        """
        asked = {
            "name": name,
            "state": state,
            "released": released,
            "published": published,
            "collection_id": collection_id,
            "order": order,
        }
        return Listing(CampaignOut, "/v1/campaigns", paging, params=asked)

    @operation
    def create_campaign(self, campaign: CampaignIn, **key: Unpack[IdempotencyKey]) -> Call[CampaignOut]:
        """Create a campaign over a collection; its packages are made in the background."""
        return Call(CampaignOut, "POST", "/v1/campaigns", body=campaign, **key)

    @operation
    def estimate_campaign(self, campaign: CampaignDryRunIn) -> Call[CampaignEstimateOut]:
        """Make all checks of a new campaign, and return its size and cost; nothing is stored."""
        return Call(CampaignEstimateOut, "POST", "/v1/campaigns/dry-run", body=campaign)

    @operation
    def get_campaign(self, campaign_id: UUID) -> Call[CampaignOut]:
        """Return a campaign and its counts."""
        return Call(CampaignOut, "GET", f"/v1/campaigns/{campaign_id}")

    @operation
    def change_campaign(self, campaign_id: UUID, changes: CampaignChangesIn) -> Call[CampaignOut]:
        """Change a campaign by a merge patch: keys that are left out keep their values, null restores a default."""
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
    def report_verdicts(self, campaign_id: UUID, report: VerdictReportIn) -> Call[CampaignOut]:
        """Report a look at a campaign: packages of undecided pairs come first, and the campaign may stop."""
        return Call(CampaignOut, "PUT", f"/v1/campaigns/{campaign_id}/verdicts", body=report)

    @operation
    def close_campaign(self, campaign_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[CampaignOut]:
        """End a campaign. Its annotations so far are its result."""
        return Call(CampaignOut, "POST", f"/v1/campaigns/{campaign_id}/close", **key)

    @operation
    def release_results(self, campaign_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[CampaignOut]:
        """Let each team see the results of an ended campaign in which its bots take part."""
        return Call(CampaignOut, "POST", f"/v1/campaigns/{campaign_id}/results/release", **key)

    @operation
    def publish_results(self, campaign_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[CampaignOut]:
        """Let everybody see the results of an ended campaign, without a key."""
        return Call(CampaignOut, "POST", f"/v1/campaigns/{campaign_id}/results/publish", **key)

    @operation
    def withdraw_results(self, campaign_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[CampaignOut]:
        """Hide the results of a campaign from teams and the public again."""
        return Call(CampaignOut, "POST", f"/v1/campaigns/{campaign_id}/results/withdraw", **key)

    @operation
    def list_packages(self, campaign_id: UUID, **paging: Unpack[Paging]) -> Listing[PackageOut]:
        """List the packages of a campaign with their segments."""
        return Listing(PackageOut, f"/v1/campaigns/{campaign_id}/packages", paging)

    @operation
    def import_packages(
        self, campaign_id: UUID, batch: PackageBatchIn, **key: Unpack[IdempotencyKey]
    ) -> Call[StoredOut]:
        """Add packages to an import campaign. Packages that exist already stay unchanged."""
        return Call(StoredOut, "POST", f"/v1/campaigns/{campaign_id}/packages", body=batch, **key)

    @operation
    def list_annotations(
        self,
        campaign_id: UUID,
        *,
        conversation_id: UUID | None = None,
        judges: Sequence[str] = (),
        **paging: Unpack[Paging],
    ) -> Listing[AnnotationOut]:
        """List the annotations of a campaign, or only the annotations of one of its conversations.

        Judges are left out unless `judges` names them; `*` names all of them.
        """
        only = {"conversation_id": conversation_id, "judges": judges}
        return Listing(AnnotationOut, f"/v1/campaigns/{campaign_id}/annotations", paging, params=only)

    @operation
    def stream_annotations(self, campaign_id: UUID, *, judges: Sequence[str] = ()) -> Ndjson[AnnotationOut]:
        """Stream all annotations of a campaign. They name people by pseudonyms.

        Judges are left out unless `judges` names them; `*` names all of them.
        """
        return Ndjson(AnnotationOut, f"/v1/campaigns/{campaign_id}/annotations/stream", params={"judges": judges})

    @operation
    def export_campaign(
        self,
        campaign_id: UUID,
        form: ExportFormat = ExportFormat.NDJSON,
        *,
        rows: ExportedRows = ExportedRows.ANNOTATIONS,
        annotators: AnnotatorNames = AnnotatorNames.PSEUDONYMS,
        judges: Sequence[str] = (),
    ) -> Download:
        """Download a campaign as one file.

        `rows` selects its annotations, the single values in them, or its packages' items. Judges are left out unless
        `judges` names them; `*` names all of them.
        """
        params = {"format": form.value, "rows": rows.value, "annotators": annotators.value, "judges": judges}
        return Download(f"/v1/campaigns/{campaign_id}/export", params=params)

    @operation
    def annotations_revision(self, campaign_id: UUID, *, judges: Sequence[str] = ()) -> Call[AnnotationsRevisionOut]:
        """Return a revision of a campaign's annotations. Equal revisions mean equal annotations.

        It leaves out judges unless `judges` names them; `*` names all of them.
        """
        path = f"/v1/campaigns/{campaign_id}/annotations/revision"
        return Call(AnnotationsRevisionOut, "GET", path, params={"judges": judges})

    @operation
    def count_shared_annotators(self, campaign_id: UUID, others: Sequence[UUID]) -> Call[SharedAnnotatorsOut]:
        """Count the people who annotated in a campaign and in any of the others."""
        path = f"/v1/campaigns/{campaign_id}/annotations/shared-annotators"
        return Call(SharedAnnotatorsOut, "GET", path, params={"with": [*map(str, others)]})

    @operation
    def import_annotations(
        self, campaign_id: UUID, batch: AnnotationBatchIn, **key: Unpack[IdempotencyKey]
    ) -> Call[StoredOut]:
        """Add annotations to an import campaign. Annotations that exist already stay unchanged."""
        return Call(StoredOut, "POST", f"/v1/campaigns/{campaign_id}/annotations", body=batch, **key)

    @operation
    def preview_campaign(self, campaign_id: UUID) -> Call[CampaignPreviewOut]:
        """Return the cost of a campaign: packages, annotators, hours and money."""
        return Call(CampaignPreviewOut, "GET", f"/v1/campaigns/{campaign_id}/preview")

    @operation
    def open_campaign(self, campaign_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[CampaignOut]:
        """Open a draft or a paused campaign, so that packages can be claimed."""
        return Call(CampaignOut, "POST", f"/v1/campaigns/{campaign_id}/open", **key)

    @operation
    def pause_campaign(self, campaign_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[CampaignOut]:
        """Pause a campaign: no package can be claimed until it is opened again."""
        return Call(CampaignOut, "POST", f"/v1/campaigns/{campaign_id}/pause", **key)
