"""Calls to `annotation` and `conversations`: a campaign's labels, and who spoke, each as one stream."""

from uuid import UUID

from spotthebot.analytics.domain.errors import NoSuchCampaign
from spotthebot.analytics.domain.study import Study
from spotthebot.contracts.annotation import AnnotationOut, CampaignOut, PackageOut
from spotthebot.contracts.conversations import ConversationOut, ConversationState
from spotthebot.kit.client import PeerRefused, ServiceClient


class Studies:
    """Campaigns with all that is known of them."""

    def __init__(self, annotation: ServiceClient, conversations: ServiceClient) -> None:
        self._annotation = annotation
        self._conversations = conversations

    async def get(self, campaign_id: UUID) -> Study:
        """Fetch a campaign with its labels and speakers; raises NoSuchCampaign."""
        path = f"/v1/campaigns/{campaign_id}"
        try:
            campaign = CampaignOut.model_validate(await self._annotation.get(path))
        except PeerRefused as refused:
            if refused.status == 404:
                raise NoSuchCampaign(campaign_id=campaign_id) from refused
            raise
        lines = self._annotation.lines(f"{path}/annotations/stream")
        annotations = [AnnotationOut.model_validate(line) async for line in lines]
        packages = [PackageOut.model_validate(item) async for item in self._annotation.pages(f"{path}/packages")]
        speakers = await self._speakers(campaign.collection_id)
        return Study(campaign=campaign, speakers=speakers, packages=packages, annotations=annotations)

    async def _speakers(self, collection_id: UUID) -> dict[UUID, tuple[str, str]]:
        speakers = {}
        async for line in self._conversations.lines(f"/v1/collections/{collection_id}/conversations/stream"):
            conversation = ConversationOut.model_validate(line)
            if conversation.state is ConversationState.COMPLETE:
                first, second = conversation.participants
                speakers[conversation.id] = (first.name, second.name)
        return speakers
