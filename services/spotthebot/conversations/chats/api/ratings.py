"""People's ratings of their chats, for those who may know the bots, and a revision of all ratings of a collection."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.contracts.conversations.chats import ChatRatingOut, RatedConversationOut
from spotthebot.contracts.conversations.ratings import RatingsRevisionOut
from spotthebot.conversations.chats.domain.chats import RatedChat
from spotthebot.conversations.chats.store import ratings as ratings_store
from spotthebot.conversations.deps import Reader
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Reading

router = APIRouter(prefix="/v1/collections/{collection_id}/ratings", tags=["chats"], route_class=CheckedRoute)


@router.get("", operation_id="list_chat_ratings")
async def list_ratings(session: Reading, _caller: Reader, collection_id: UUID, paging: Paging) -> Page[ChatRatingOut]:
    """List people's ratings of their chats, with the names of the bots, oldest chat first."""
    rows = await ratings_store.list_rated_chats(session, collection_id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda chat: chat.id, to_out=_rating_out)


@router.get("/revision", operation_id="chat_ratings_revision")
async def ratings_revision(session: Reading, _caller: Reader, collection_id: UUID) -> RatingsRevisionOut:
    """Return a text that changes whenever a rating is added or changed, or a person who rated is erased.

    Compare it before you read all ratings again.
    """
    return RatingsRevisionOut.of(await ratings_store.get_ratings_revision(session, collection_id))


def _rating_out(chat: RatedChat) -> ChatRatingOut:
    ids: dict[int | None, UUID] = {each.number: each.id for each in chat.conversations}
    return ChatRatingOut(
        chat_id=chat.id,
        interactor=chat.interactor,
        interactor_kind=chat.interactor_kind,
        conversations=tuple(
            RatedConversationOut(conversation_id=each.id, participant=each.participant, scores=dict(each.scores))
            for each in chat.conversations
        ),
        preferred=ids.get(chat.preferred),
        preferences={question: ids.get(number) for question, number in chat.preferences.items()},
        rated_at=chat.rated_at,
    )
