"""The campaigns of `annotation`: their packages, annotations, exports, releases and changes."""

from typing import Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, Listing, ListOrder, Paging, operation
from spotthebot.clients.streams import Download, Ndjson
from spotthebot.contracts.annotation.annotations import AnnotationOut, AnnotationsRevisionOut
from spotthebot.contracts.annotation.campaign_changes import CampaignChangesIn
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut
from spotthebot.contracts.annotation.exports import AnnotatorNames, ExportedRows
from spotthebot.contracts.annotation.packages import PackageOut
from spotthebot.contracts.annotation.previews import CampaignPreviewOut, PackagePreviewOut
from spotthebot.contracts.annotation.uploads import AnnotationBatchIn, PackageBatchIn
from spotthebot.contracts.batches import StoredOut
from spotthebot.kit.exports.formats import ExportFormat


class CampaignOperations:
    """The campaigns of `annotation`: their packages, annotations, exports, releases and changes."""

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
