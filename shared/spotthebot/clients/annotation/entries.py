"""How annotators enter campaigns: entry links, consent."""

from typing import Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, Listing, ListOrder, Paging, operation
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


class EntryOperations:
    """How annotators enter campaigns: entry links, consent."""

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
        """List the entry links of a campaign, oldest first, each with the number of people who entered by it."""
        path = f"/v1/campaigns/{campaign_id}/entry-links"
        return Listing(EntryLinkStateOut, path, paging, params={"order": order})

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
