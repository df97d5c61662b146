"""The open campaigns of `annotation`: what changed in them, and reports of verdicts on their pairs of bots."""

from collections.abc import AsyncIterator, Hashable
from typing import Final, NamedTuple
from uuid import UUID

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.contracts.annotation.protocols import LABELS_OF_SPEAKERS
from spotthebot.contracts.annotation.verdicts import VerdictReportIn

_IMPORT: Final = "import"


class CampaignChange(NamedTuple):
    """An open campaign, and a fingerprint of everything that its verdicts depend on."""

    campaign: CampaignOut
    fingerprint: Hashable


class RunningCampaigns:
    """Reads open campaigns with labels of speakers, and reports verdicts on them."""

    def __init__(self, annotation: AsyncAnnotation) -> None:
        self._annotation = annotation

    async def list(self) -> AsyncIterator[CampaignChange]:
        """Return the open campaigns whose labels give verdicts; imports are left out, as they ask nobody."""
        async for campaign in self._annotation.list_campaigns(state=CampaignState.OPEN):
            if campaign.protocol in LABELS_OF_SPEAKERS and campaign.mode != _IMPORT:
                found = await self._annotation.annotations_revision(campaign.id)
                rule = (campaign.margin, str(campaign.stop_when), campaign.packages)
                yield CampaignChange(campaign, (found.revision, rule))

    async def report(self, campaign_id: UUID, report: VerdictReportIn) -> None:
        """Report the verdicts on a campaign's pairs."""
        await self._annotation.report_verdicts(campaign_id, report)
