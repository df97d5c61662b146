"""Clients of other services: reads collections from `conversations`, and campaigns from `annotation`."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from spotthebot.clients import AsyncAnnotation, AsyncConversations, Conflict, NotFound
from spotthebot.contracts.annotation.annotations import AnnotationOut
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.contracts.conversations.chats import ChatRatingOut
from spotthebot.contracts.conversations.collections import ENDED, CollectionOut
from spotthebot.contracts.conversations.conversations import ConversationOut, SpeakersOut, TextsOut
from spotthebot.contracts.repeated_texts import shown_texts
from spotthebot.fed.dialogues.errors import NoSuchCollection, StillCollecting
from spotthebot.fed.ratings.errors import NoChats, NoSuchCampaign, NoSuchStudy
from spotthebot.kit.text.words import known_text_hash


@dataclass(frozen=True)
class PageOfConversations:
    """The conversations that one step scores. A request with `cursor` returns the same page again."""

    cursor: str | None
    conversations: Sequence[ConversationOut]
    next_cursor: str | None


class Collections:
    """Collections of `conversations`, read page by page."""

    def __init__(self, conversations: AsyncConversations) -> None:
        self._conversations = conversations

    async def require_ended(self, collection_id: UUID) -> CollectionOut:
        """Return a collection. Raises NoSuchCollection, and StillCollecting if the collection has not ended."""
        try:
            collection = await self._conversations.get_collection(collection_id)
        except NotFound as refused:
            raise NoSuchCollection(collection_id=collection_id) from refused
        if collection.state not in ENDED:
            raise StillCollecting(collection=collection.name, state=collection.state)
        return collection

    async def page(self, collection_id: UUID, cursor: str | None, size: int) -> PageOfConversations:
        """Return a page of a collection's conversations, in the order of its plan."""
        listed = self._conversations.list_conversations(collection_id, page_size=size, cursor=cursor)
        page = await listed.page()
        return PageOfConversations(cursor, page.items, page.next_cursor)

    async def pages(self, collection_id: UUID, size: int) -> AsyncIterator[PageOfConversations]:
        """Yield all pages of a collection's conversations."""
        page = await self.page(collection_id, None, size)
        while True:
            yield page
            if page.next_cursor is None:
                return
            page = await self.page(collection_id, page.next_cursor, size)

    def speakers(self, collection_id: UUID) -> AsyncIterator[SpeakersOut]:
        """Yield the participants of each conversation."""
        return self._conversations.stream_speakers(collection_id)

    def texts(self, collection_id: UUID) -> AsyncIterator[TextsOut]:
        """Yield the texts of each conversation."""
        return self._conversations.stream_texts(collection_id)

    async def openings(self, collection_id: UUID) -> dict[UUID, str]:
        """Return a hash of the opening of each conversation that begins with words of people."""
        found: dict[UUID, str] = {}
        async for each in self.texts(collection_id):
            opening = known_text_hash([turn.text for turn in each.opening])
            if opening is not None:
                found[each.id] = opening.hex()
        return found

    async def chat_ratings(self, collection_id: UUID) -> list[ChatRatingOut]:
        """Return the ratings by people who chatted with bots; raises NoSuchCollection and NoChats."""
        try:
            return [each async for each in self._conversations.list_chat_ratings(collection_id)]
        except NotFound as refused:
            raise NoSuchCollection(collection_id=collection_id) from refused
        except Conflict as refused:
            raise NoChats(collection_id=collection_id) from refused


class Campaigns:
    """Campaigns of `annotation`."""

    def __init__(self, annotation: AsyncAnnotation) -> None:
        self._annotation = annotation

    async def get(self, campaign_id: UUID) -> CampaignOut:
        """Return a campaign; raises NoSuchCampaign."""
        try:
            return await self._annotation.get_campaign(campaign_id)
        except NotFound as refused:
            raise NoSuchCampaign(campaign_id=campaign_id) from refused

    async def study(self, study_id: UUID) -> StudyOut:
        """Return a study; raises NoSuchStudy."""
        try:
            return await self._annotation.get_study(study_id)
        except NotFound as refused:
            raise NoSuchStudy(study_id=study_id) from refused

    async def protocol(self, campaign: CampaignOut) -> AnnotationProtocol:
        """Return the protocol of a campaign."""
        return (await self._annotation.get_protocol(campaign.protocol, campaign.protocol_version)).protocol

    async def shown_texts(self, campaign_id: UUID) -> dict[UUID, str]:
        """Return for each conversation a hash of the part of its text that annotators see."""
        return shown_texts([each async for each in self._annotation.list_packages(campaign_id)])

    def annotations(self, campaign_id: UUID) -> AsyncIterator[AnnotationOut]:
        """Yield the annotations of a campaign. They name annotators by pseudonyms."""
        stream: Any = self._annotation.stream_annotations(campaign_id)
        annotations: AsyncIterator[AnnotationOut] = stream
        return annotations
