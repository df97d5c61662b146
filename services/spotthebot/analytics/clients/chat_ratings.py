"""The ratings that people gave in chats, read from `conversations`."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from spotthebot.analytics.chats.domain import RatedChats
from spotthebot.analytics.clients.errors import NoSuchChats
from spotthebot.clients import AsyncConversations, Conflict, NotFound
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.contracts.conversations.chats import ChatRatingOut
from spotthebot.contracts.conversations.collections import ENDED, CollectionOut

_PAGE = 1000


class ChatRatings:
    """The ratings of some collections of chats. `revisions`, one for each collection, change whenever a rating changes.

    The ratings themselves are read by the first `read`, and kept.
    """

    def __init__(self, conversations: AsyncConversations, revisions: Mapping[UUID, str]) -> None:
        self._conversations = conversations
        self._rated: RatedChats | None = None
        self.revisions = revisions

    @classmethod
    async def current(cls, conversations: AsyncConversations, study: StudyOut) -> "ChatRatings | None":
        """Return the ratings of a study's chats with their revisions; None if it names no chats. Raises NoSuchChats."""
        if not study.chats:
            return None
        revisions = await _revisions(conversations, study.chats)
        if without := next((each for each in study.chats if each not in revisions), None):
            raise NoSuchChats(study=study.name, collection_id=without)
        return cls(conversations, revisions)

    @classmethod
    async def of_collections(cls, conversations: AsyncConversations, collections: Sequence[UUID]) -> "ChatRatings":
        """Return the ratings of these collections with their revisions. A collection without chats has none."""
        return cls(conversations, await _revisions(conversations, collections))

    async def read(self, collections: Mapping[UUID, CollectionOut]) -> RatedChats:
        """Return the ratings, without texts. `collections` has all of these collections."""
        if self._rated is None:
            self._rated = await self._read(collections)
        return self._rated

    async def _read(self, collections: Mapping[UUID, CollectionOut]) -> RatedChats:
        asked = dict[str, str]()
        ratings: list[ChatRatingOut] = []
        for collection_id in self.revisions:
            plan = await self._conversations.get_plan(collection_id)
            for question in plan.questions or ():
                asked.setdefault(question.name, question.text)
            listed = self._conversations.list_chat_ratings(collection_id, page_size=_PAGE)
            ratings += [each async for each in listed]
        own = [collections[each] for each in self.revisions]
        return RatedChats(
            domain=", ".join(sorted({each.domain for each in own})),
            complete=all(each.state in ENDED for each in own),
            asked=asked,
            ratings=ratings,
            texts={},
        )


async def _revisions(conversations: AsyncConversations, collections: Sequence[UUID]) -> dict[UUID, str]:
    """Return the revisions of those collections that hold chats."""
    found = await asyncio.gather(*(_revision(conversations, each) for each in collections))
    return {each: revision for each, revision in zip(collections, found, strict=True) if revision is not None}


async def _revision(conversations: AsyncConversations, collection_id: UUID) -> str | None:
    try:
        return (await conversations.chat_ratings_revision(collection_id)).revision
    except (NotFound, Conflict):
        return None
