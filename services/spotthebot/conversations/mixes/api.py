"""`/mix`, `/strata`, `/text-hashes`, `/interactors` of `/v1/collections/{id}`: data for campaigns."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from starlette.responses import StreamingResponse

from spotthebot.contracts.conversations.conversations import ConversationState, InteractorOut, StratumOut, TextHashOut
from spotthebot.contracts.conversations.progress import MixOut
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.conversations.domain import Conversation, Speakers
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.deps import AnnotationService, Mixer
from spotthebot.conversations.mixes.domain import Interactors, Mix, Strata
from spotthebot.conversations.mixes.use_cases import mix_conversations
from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.core.streams import stream
from spotthebot.kit.web.database.sessions import Pool, Reading

router = APIRouter(prefix="/v1/collections/{collection_id}", tags=["collections"], route_class=CheckedRoute)


async def _collections(
    collection_id: UUID,
    also: Annotated[
        Sequence[UUID], Query(max_length=99, description="Further collections, in the order of the campaign.")
    ] = (),
) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys([collection_id, *also]))


_Collections = Annotated[tuple[UUID, ...], Depends(_collections)]


async def _mix(
    collections: _Collections,
    exchanges: Annotated[int, Query(ge=1, le=500, description="How many exchanges the campaign shows at most.")] = 1,
    human_share: Annotated[
        float | None,
        Query(
            ge=0,
            lt=1,
            allow_inf_nan=False,
            description="Which share of the conversations are human-human ones; nothing: all that there are.",
        ),
    ] = None,
    seed: Annotated[int, Query(ge=0, lt=2**31, description="Decides which human-human conversations are drawn.")] = 0,
) -> Mix:
    return Mix(collections, exchanges, human_share, seed)


_Mix = Annotated[Mix, Depends(_mix)]
_Chatted = tuple[UUID, str | None]
_Row = TypeVar("_Row")


class _InTurn(Generic[_Row]):
    """Fetches the rows of several collections, one after the other, batch by batch, for `stream`."""

    def __init__(
        self,
        collections: Sequence[UUID],
        fetch: Callable[[ReadSession, UUID, UUID | None, int], Awaitable[Sequence[_Row]]],
        *,
        key: Callable[[_Row], UUID],
    ) -> None:
        self._left = deque(collections)
        self._fetch = fetch
        self._key = key
        self._after: UUID | None = None

    async def __call__(self, reading: ReadSession, _after: UUID | None, limit: int) -> Sequence[_Row]:
        while self._left:
            if rows := await self._fetch(reading, self._left[0], self._after, limit):
                self._after = self._key(rows[-1])
                return rows
            self._left.popleft()
            self._after = None
        return ()


@router.get("/mix", operation_id="get_mix")
async def get_mix(session: Reading, _caller: Mixer, mix: _Mix) -> MixOut:
    """Return how many conversations a campaign would take from collections, and how many it would leave out."""
    return MixOut.of(await mix_conversations(session, mix))


@router.get("/strata/stream", operation_id="stream_strata", response_class=StreamingResponse)
async def stream_strata(
    session: Reading,
    _caller: AnnotationService,
    database: Pool,
    mix: _Mix,
) -> StreamingResponse:
    """Return as NDJSON, one `StratumOut` per line, a label for each conversation that a campaign takes.

    Conversations of the same two speakers have equal labels. Each answer draws new labels, which reveal no speaker.
    """
    await collections_store.get_collection(session, mix.collections[0])
    left_out = frozenset() if mix.selects_all else (await mix_conversations(session, mix)).left_out
    strata = Strata()

    async def fetch(reading: ReadSession, collection_id: UUID, after: UUID | None, limit: int) -> list[Speakers]:
        return await conversations_store.list_speakers(reading, collection_id, after=after, limit=limit)

    return stream(
        database,
        _InTurn(mix.collections, fetch, key=lambda speakers: speakers.id),
        key=lambda speakers: speakers.id,
        to_out=lambda speakers: StratumOut(id=speakers.id, stratum=strata.label(speakers)),
        is_sent=lambda speakers: speakers.id not in left_out,
    )


@router.get("/text-hashes/stream", operation_id="stream_text_hashes", response_class=StreamingResponse)
async def stream_text_hashes(
    session: Reading,
    _caller: Mixer,
    database: Pool,
    mix: _Mix,
    shown: Annotated[
        int | None, Query(ge=1, le=500, description="How many exchanges annotators see at most; nothing: all.")
    ] = None,
) -> StreamingResponse:
    """Return as NDJSON, one `TextHashOut` per line, a hash of each conversation that a campaign takes.

    Conversations that show the same words have equal hashes.
    """
    await collections_store.get_collection(session, mix.collections[0])
    left_out = frozenset() if mix.selects_all else (await mix_conversations(session, mix)).left_out

    async def fetch(reading: ReadSession, collection_id: UUID, after: UUID | None, limit: int) -> list[Conversation]:
        return await conversations_store.list_conversations(reading, collection_id, after=after, limit=limit)

    def is_taken(conversation: Conversation) -> bool:
        is_complete = conversation.state is ConversationState.COMPLETE
        return is_complete and len(conversation.turns) // 2 >= mix.exchanges and conversation.id not in left_out

    return stream(
        database,
        _InTurn(mix.collections, fetch, key=lambda conversation: conversation.id),
        key=lambda conversation: conversation.id,
        to_out=lambda conversation: TextHashOut(
            id=conversation.id, text_hash=(found := conversation.shown_text_hash(shown)) and found.hex()
        ),
        is_sent=is_taken,
    )


@router.get("/interactors/stream", operation_id="stream_interactors", response_class=StreamingResponse)
async def stream_interactors(
    session: Reading,
    _caller: AnnotationService,
    database: Pool,
    collections: _Collections,
) -> StreamingResponse:
    """Return as NDJSON, one `InteractorOut` per line, a salted hash of the person in each conversation.

    Without a person, the hash is of random bytes, so that it does not reveal who speaks.
    """
    for collection_id in collections:
        await collections_store.get_collection(session, collection_id)
    interactors = Interactors()

    async def fetch(reading: ReadSession, collection_id: UUID, after: UUID | None, limit: int) -> list[_Chatted]:
        return await chats_store.list_interactors(reading, collection_id, after=after, limit=limit)

    return stream(
        database,
        _InTurn(collections, fetch, key=lambda chatted: chatted[0]),
        key=lambda chatted: chatted[0],
        to_out=lambda chatted: InteractorOut(
            id=chatted[0], salt=interactors.salt.hex(), interactor_sha256=interactors.sha256(chatted[1])
        ),
    )
