"""The routes of a conversation, `/v1/conversations/{id}`, and streams of all texts, speakers or latencies."""

from uuid import UUID

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from spotthebot.contracts.conversations.conversations import ConversationOut, LatenciesOut, SpeakersOut, TextsOut
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.conversations.domain import Conversation, Latencies, Speakers
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.deps import Reader
from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.core.streams import stream
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Pool, Reading

router = APIRouter(prefix="/v1/conversations", tags=["conversations"], route_class=CheckedRoute)
collection_router = APIRouter(prefix="/v1", tags=["collections"], route_class=IdempotentRoute)


@router.get("/{conversation_id}", operation_id="get_conversation")
async def get_conversation(session: Reading, _caller: Reader, conversation_id: UUID) -> ConversationOut:
    """Return one conversation."""
    return conversation_out(await conversations_store.get_conversation(session, conversation_id))


@collection_router.get(
    "/collections/{collection_id}/texts/stream", operation_id="stream_texts", response_class=StreamingResponse
)
async def stream_texts(session: Reading, _caller: Reader, database: Pool, collection_id: UUID) -> StreamingResponse:
    """Return the texts of a collection's conversations as NDJSON, one `TextsOut` per line, without participants."""
    await collections_store.get_collection(session, collection_id)

    async def fetch(reading: ReadSession, after: UUID | None, limit: int) -> list[Conversation]:
        return await conversations_store.list_conversations(reading, collection_id, after=after, limit=limit)

    return stream(database, fetch, key=lambda conversation: conversation.id, to_out=texts_out)


@collection_router.get(
    "/collections/{collection_id}/speakers/stream", operation_id="stream_speakers", response_class=StreamingResponse
)
async def stream_speakers(session: Reading, _caller: Reader, database: Pool, collection_id: UUID) -> StreamingResponse:
    """Return the participants of a collection's conversations as NDJSON, one `SpeakersOut` per line, without texts."""
    await collections_store.get_collection(session, collection_id)

    async def fetch(reading: ReadSession, after: UUID | None, limit: int) -> list[Speakers]:
        return await conversations_store.list_speakers(reading, collection_id, after=after, limit=limit)

    return stream(database, fetch, key=lambda speakers: speakers.id, to_out=SpeakersOut.of)


@collection_router.get(
    "/collections/{collection_id}/latencies/stream", operation_id="stream_latencies", response_class=StreamingResponse
)
async def stream_latencies(session: Reading, _caller: Reader, database: Pool, collection_id: UUID) -> StreamingResponse:
    """Return how long the turns of a collection's conversations took as NDJSON, one `LatenciesOut` per line."""
    await collections_store.get_collection(session, collection_id)

    async def fetch(reading: ReadSession, after: UUID | None, limit: int) -> list[Latencies]:
        return await conversations_store.list_latencies(reading, collection_id, after=after, limit=limit)

    return stream(database, fetch, key=lambda latencies: latencies.id, to_out=LatenciesOut.of)


def conversation_out(conversation: Conversation) -> ConversationOut:
    """Convert a conversation with its turns so far to its wire type."""
    return ConversationOut.of(conversation, opening=conversation.opening_turns, turns=conversation.spoken_turns)


def texts_out(conversation: Conversation) -> TextsOut:
    """Convert a conversation for annotation, which must not learn who speaks."""
    return TextsOut.of(conversation, opening=conversation.opening_turns, turns=conversation.spoken_turns)
