"""The campaigns of `annotation`."""

from spotthebot.clients import AsyncAnnotation
from spotthebot.clients.operations import ListOrder, Page
from spotthebot.contracts.annotation.campaigns import CampaignOut


class Campaigns:
    """Reads campaigns from `annotation`."""

    def __init__(self, annotation: AsyncAnnotation) -> None:
        self._annotation = annotation

    async def list_page(
        self, *, name: str | None, order: ListOrder, cursor: str | None, limit: int
    ) -> Page[CampaignOut]:
        """Return a page of campaigns in this order. `name` selects the campaigns with this name.

        Raises PeerRefused for a bad cursor.
        """
        return await self._annotation.list_campaigns(name=name, order=order, cursor=cursor, page_size=limit).page()

    async def list_named(self, name: str) -> list[CampaignOut]:
        """Return the campaigns with this name, oldest first."""
        return [each async for each in self._annotation.list_campaigns(name=name)]

    async def list_names(self) -> list[str]:
        """Return the names of all campaigns, each once."""
        return sorted({each.name async for each in self._annotation.list_campaigns()})

    async def list_published(self) -> list[CampaignOut]:
        """Return the campaigns whose results everybody may see, oldest first."""
        return [each async for each in self._annotation.list_campaigns(published=True)]
