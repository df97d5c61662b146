"""Operations on conversations: read, export, import."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, TypedDict, Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, Listing, Paging, operation
from spotthebot.clients.requests import Content
from spotthebot.clients.streams import Download, Ndjson
from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.conversations.conversations import (
    ConversationBatchIn,
    ConversationOut,
    ConversationState,
    Ending,
    InteractorOut,
    NeighboursOut,
    SpeakersOut,
    StratumOut,
    TextHashOut,
    TextsOut,
)
from spotthebot.contracts.conversations.exports import ExportedConversation, ImportedOut
from spotthebot.contracts.conversations.performance import BotConversationOut, BotPerformanceOut
from spotthebot.contracts.conversations.progress import MixOut
from spotthebot.contracts.conversations.quality import FlagKind
from spotthebot.kit.exports.formats import ExportFormat


class Mixing(TypedDict, total=False):
    """What a campaign takes from a collection and `also` from others: see `MixOut`."""

    also: Sequence[UUID]
    exchanges: int
    human_share: float | None
    seed: int


class Matching(TypedDict, total=False):
    """Which conversations of a collection are meant; what is left out does not matter."""

    participant: str | None
    state: ConversationState | None
    ended_by: Ending | None
    flag: FlagKind | None
    min_turns: int | None
    max_turns: int | None
    text: str | None


_MATCHING = (*Matching.__annotations__,)


class Search(Matching, Paging, total=False):
    """A page of those."""


class TranscriptOperations:
    """`/v1/conversations` and `/v1/collections/{id}/conversations`."""

    @operation
    def get_conversation(self, conversation_id: UUID) -> Call[ConversationOut]:
        """Return a conversation."""
        return Call(ConversationOut, "GET", f"/v1/conversations/{conversation_id}")

    @operation
    def get_exported_conversation(self, conversation_id: UUID) -> Call[ExportedConversation]:
        """Return a conversation as its collection's export has it: times, ratings and quality flags too."""
        return Call(ExportedConversation, "GET", f"/v1/conversations/{conversation_id}/export")

    @operation
    def list_conversations(self, collection_id: UUID, **search: Unpack[Search]) -> Listing[ConversationOut]:
        """List the conversations of a collection, or those that match, in the order of its plan.

        A page of a search for a text may have fewer items than were asked for, and others after it.
        """
        path = f"/v1/collections/{collection_id}/conversations"
        return Listing(ConversationOut, path, search, params={name: search.get(name) for name in _MATCHING})

    @operation
    def get_neighbours(
        self, collection_id: UUID, conversation_id: UUID, **matching: Unpack[Matching]
    ) -> Call[NeighboursOut]:
        """Return the conversations before and after one in the same search."""
        path = f"/v1/collections/{collection_id}/conversations/{conversation_id}/neighbours"
        return Call(NeighboursOut, "GET", path, params=matching)

    @operation
    def list_conversations_of_bot(
        self, bot_id: UUID | None = None, *, bot: str | None = None, **paging: Unpack[Paging]
    ) -> Listing[BotConversationOut]:
        """List the conversations that a bot, by its id or its name, takes part in; a team sees its own bots' only."""
        return Listing(BotConversationOut, "/v1/conversations", paging, params={"bot_id": bot_id, "bot": bot})

    @operation
    def get_bot_performance(
        self, bot_id: UUID | None = None, *, bot: str | None = None, collection_id: Sequence[UUID] = ()
    ) -> Call[BotPerformanceOut]:
        """Say how a bot did in these collections, or in all: states, failures at its turn, latencies."""
        params = {"bot_id": bot_id, "bot": bot, "collection_id": collection_id}
        return Call(BotPerformanceOut, "GET", "/v1/conversations/performance", params=params)

    @operation
    def stream_texts(self, collection_id: UUID) -> Ndjson[TextsOut]:
        """Stream the texts of all conversations of a collection, without their participants."""
        return Ndjson(TextsOut, f"/v1/collections/{collection_id}/texts/stream")

    @operation
    def stream_speakers(self, collection_id: UUID) -> Ndjson[SpeakersOut]:
        """Stream who spoke in each conversation of a collection, without the texts."""
        return Ndjson(SpeakersOut, f"/v1/collections/{collection_id}/speakers/stream")

    @operation
    def get_mix(self, collection_id: UUID, **mix: Unpack[Mixing]) -> Call[MixOut]:
        """Say how many conversations a campaign would take from collections, and how many it would leave out."""
        return Call(MixOut, "GET", f"/v1/collections/{collection_id}/mix", params=mix)

    @operation
    def stream_strata(self, collection_id: UUID, **mix: Unpack[Mixing]) -> Ndjson[StratumOut]:
        """Stream a label for each conversation that a campaign takes: the same for the same two speakers, unnamed."""
        return Ndjson(StratumOut, f"/v1/collections/{collection_id}/strata/stream", params=mix)

    @operation
    def stream_text_hashes(
        self, collection_id: UUID, *, shown: int | None = None, **mix: Unpack[Mixing]
    ) -> Ndjson[TextHashOut]:
        """Stream a hash of what each conversation that a campaign takes shows of itself: of so many exchanges, or all.

        Conversations with the same words have the same hash.
        """
        params = {"shown": shown, **mix}
        return Ndjson(TextHashOut, f"/v1/collections/{collection_id}/text-hashes/stream", params=params)

    @operation
    def stream_interactors(self, collection_id: UUID, *, also: Sequence[UUID] = ()) -> Ndjson[InteractorOut]:
        """Stream a salted hash for each conversation, of the person who chatted in it if somebody did."""
        return Ndjson(InteractorOut, f"/v1/collections/{collection_id}/interactors/stream", params={"also": also})

    @operation
    def export_collection(
        self,
        collection_id: UUID,
        form: ExportFormat = ExportFormat.NDJSON,
        *,
        people: Literal["pseudonyms", "ids"] = "pseudonyms",
    ) -> Download:
        """Download all conversations of a collection as one file, in the order of its plan."""
        params = {"format": form.value, "people": people}
        return Download(f"/v1/collections/{collection_id}/export", params=params)

    @operation
    def import_conversations(
        self, collection_id: UUID, batch: ConversationBatchIn, *, idempotency_key: str | None = None
    ) -> Call[StoredOut]:
        """Add conversations to an import collection; conversations that are there already stay as they are."""
        path = f"/v1/collections/{collection_id}/conversations"
        return Call(StoredOut, "POST", path, body=batch, idempotency_key=idempotency_key)

    @operation
    def upload_export(self, collection_id: UUID, content: Path | bytes | Iterable[bytes]) -> Call[ImportedOut]:
        """Store exported conversations, one a line, in an import collection; the same file can be sent again."""
        return Call(ImportedOut, "POST", f"/v1/collections/{collection_id}/uploads", content=Content(content))
