"""The ratings that people gave in chats, read from `conversations`."""

from spotthebot.analytics.chats.domain import RatedChats
from spotthebot.analytics.clients.errors import NoSuchChats
from spotthebot.analytics.clients.read_collections import ENDED
from spotthebot.clients import AsyncConversations, Conflict, NotFound
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.contracts.conversations.chats import ChatRatingOut

_PAGE = 1000


class ChatRatings:
    """Reads the ratings of collections of chats."""

    def __init__(self, conversations: AsyncConversations) -> None:
        self._conversations = conversations

    async def read(self, study: StudyOut) -> RatedChats | None:
        """Return the ratings of a study's chats, without texts; None if it names no chats. Raises NoSuchChats."""
        if not study.chats:
            return None
        domains, asked, complete = set[str](), dict[str, str](), True
        ratings: list[ChatRatingOut] = []
        for collection_id in study.chats:
            try:
                collection = await self._conversations.get_collection(collection_id)
                plan = await self._conversations.get_plan(collection_id)
                listed = self._conversations.list_chat_ratings(collection_id, page_size=_PAGE)
                ratings += [each async for each in listed]
            except (NotFound, Conflict) as refused:
                raise NoSuchChats(study=study.name, collection_id=collection_id) from refused
            domains.add(collection.domain)
            complete = complete and collection.state in ENDED
            for question in plan.questions or ():
                asked.setdefault(question.name, question.text)
        return RatedChats(domain=", ".join(sorted(domains)), complete=complete, asked=asked, ratings=ratings, texts={})
