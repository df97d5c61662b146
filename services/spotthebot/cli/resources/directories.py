"""The kinds of resources of the services, each with its directory."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from spotthebot.cli.resources.resolver import Directory
from spotthebot.clients import Forbidden, NotFound
from spotthebot.local.runtime.session import Clients

if TYPE_CHECKING:
    # Building these models takes a tenth of a second: a command imports those of the services that it calls.
    from spotthebot.contracts.annotation.campaigns import CampaignOut
    from spotthebot.contracts.annotation.studies import StudyOut
    from spotthebot.contracts.bots.registry import BotOut
    from spotthebot.contracts.conversations.collections import CollectionOut
    from spotthebot.contracts.conversations.corpora import CorpusOut


class Bots(Directory["BotOut"]):
    """The directory of registered bots. A team sees only its own bots."""

    noun, plural, otherwise = "bot", "bots", "register it first"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def get(self, resource_id: UUID) -> "BotOut":
        return await self._clients.bots.get_bot(resource_id)

    def list(self, name: str | None = None) -> "AsyncIterator[BotOut]":
        return aiter(self._clients.bots.list_bots(name=name))

    def describe(self, resource: "BotOut") -> str:
        return f"{resource.status}, of {owner(resource.team)}"

    def gives_way(self, resource: "BotOut") -> bool:
        return resource.status == "retired"


class Campaigns(Directory["CampaignOut"]):
    """The directory of campaigns of annotation."""

    noun, plural, otherwise = "campaign", "campaigns", "make one with ./stb campaign"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def get(self, resource_id: UUID) -> "CampaignOut":
        return await self._clients.annotation.get_campaign(resource_id)

    def list(self, name: str | None = None) -> "AsyncIterator[CampaignOut]":
        return aiter(self._clients.annotation.list_campaigns(name=name))

    def describe(self, resource: "CampaignOut") -> str:
        return f"{resource.state}, of {minute(resource.created_at)}"

    def gives_way(self, resource: "CampaignOut") -> bool:
        return resource.state == "failed"


class Collections(Directory["CollectionOut"]):
    """The directory of collections of conversations."""

    noun, plural, otherwise = "collection", "collections", "make one with ./stb collect"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def get(self, resource_id: UUID) -> "CollectionOut":
        return await self._clients.conversations.get_collection(resource_id)

    def list(self, name: str | None = None) -> "AsyncIterator[CollectionOut]":
        return aiter(self._clients.conversations.list_collections(name=name))

    def describe(self, resource: "CollectionOut") -> str:
        return f"{resource.state}, of {minute(resource.created_at)}"


class Studies(Directory["StudyOut"]):
    """The directory of studies."""

    noun, plural, otherwise = "study", "studies", "make one with ./stb study"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def get(self, resource_id: UUID) -> "StudyOut":
        return await self._clients.annotation.get_study(resource_id)

    def list(self, name: str | None = None) -> "AsyncIterator[StudyOut]":
        return aiter(self._clients.annotation.list_studies(name=name))

    def describe(self, resource: "StudyOut") -> str:
        return f"{len(resource.campaigns)} campaigns, of {minute(resource.created_at)}"


class CampaignsAndStudies(Directory["CampaignOut | StudyOut"]):
    """The directory of campaigns and studies, for commands that work on both. Frontends see no studies."""

    noun, plural, otherwise = (
        "campaign or study",
        "campaigns and studies",
        "make one with ./stb campaign or ./stb study",
    )

    def __init__(self, clients: Clients) -> None:
        self._campaigns, self._studies = Campaigns(clients), Studies(clients)

    async def get(self, resource_id: UUID) -> "CampaignOut | StudyOut":
        try:
            return await self._campaigns.get(resource_id)
        except NotFound as unknown:
            try:
                return await self._studies.get(resource_id)
            except Forbidden:
                raise unknown from None

    async def list(self, name: str | None = None) -> "AsyncIterator[CampaignOut | StudyOut]":
        async for campaign in self._campaigns.list(name):
            yield campaign
        try:
            async for study in self._studies.list(name):
                yield study
        except Forbidden:
            return

    def describe(self, resource: "CampaignOut | StudyOut") -> str:
        from spotthebot.contracts.annotation.studies import StudyOut  # noqa: PLC0415 - loaded with the resource

        if isinstance(resource, StudyOut):
            return f"a study of {self._studies.describe(resource)}"
        return f"a campaign, {self._campaigns.describe(resource)}"

    def gives_way(self, resource: "CampaignOut | StudyOut") -> bool:
        from spotthebot.contracts.annotation.studies import StudyOut  # noqa: PLC0415 - as above

        return not isinstance(resource, StudyOut) and self._campaigns.gives_way(resource)


class Corpora(Directory["CorpusOut"]):
    """The directory of corpora of human dialogues."""

    noun, plural, otherwise = "corpus", "corpora", "upload it with ./stb corpora add"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def get(self, resource_id: UUID) -> "CorpusOut":
        return await self._clients.conversations.get_corpus(resource_id)

    def list(self, name: str | None = None) -> "AsyncIterator[CorpusOut]":
        return aiter(self._clients.conversations.list_corpora(name=name))

    def describe(self, resource: "CorpusOut") -> str:
        return f"{resource.domain}, of {owner(resource.owner)}"


def owner(team: str | None) -> str:
    """Return the owner's name for people: the team, or the operator."""
    return team or "the operator"


def minute(time: datetime) -> str:
    """Return a time as text for people, with the precision of a minute."""
    return f"{time:%Y-%m-%d %H:%M}"
