"""The resources that services keep, and where each kind is listed."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from spotthebot.cli.resources.resolver import Directory
from spotthebot.local.runtime.session import Clients

if TYPE_CHECKING:
    # Building these models takes a tenth of a second: a command imports those of the services that it calls.
    from spotthebot.contracts.annotation.campaigns import CampaignOut
    from spotthebot.contracts.bots.registry import BotOut
    from spotthebot.contracts.conversations.collections import CollectionOut
    from spotthebot.contracts.conversations.corpora import CorpusOut


class Bots(Directory["BotOut"]):
    """Registered bots; a team sees its own."""

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
    """Campaigns of annotation."""

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
    """Collections of conversations."""

    noun, plural, otherwise = "collection", "collections", "make one with ./stb collect"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def get(self, resource_id: UUID) -> "CollectionOut":
        return await self._clients.conversations.get_collection(resource_id)

    def list(self, name: str | None = None) -> "AsyncIterator[CollectionOut]":
        return aiter(self._clients.conversations.list_collections(name=name))

    def describe(self, resource: "CollectionOut") -> str:
        return f"{resource.state}, of {minute(resource.created_at)}"


class Corpora(Directory["CorpusOut"]):
    """Corpora of human dialogues."""

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
    """Return whose something is, for people."""
    return team or "the operator"


def minute(time: datetime) -> str:
    """Return a time for people, to the minute."""
    return f"{time:%Y-%m-%d %H:%M}"
