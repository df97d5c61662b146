"""Operations on conversations: read, export, import."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, TypedDict, Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, IdempotencyKey, Listing, Paging, operation
from spotthebot.clients.requests import Content
from spotthebot.clients.streams import Download, Ndjson
from spotthebot.contracts.batches import StoredOut
from spotthebot.contracts.conversations.conversations import (
    ConversationBatchIn,
    ConversationOut,
    ConversationState,
    Ending,
    InteractorOut,
    LatenciesOut,
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
    """The conversations that a campaign takes from one collection and from the collections in `also`: see `MixOut`."""

    also: Sequence[UUID]
    exchanges: int
    human_share: float | None
    seed: int


class Matching(TypedDict, total=False):
    """Criteria that a collection's conversations must meet. A criterion that is left out excludes none."""

    participant: str | None
    state: ConversationState | None
    ended_by: Ending | None
    flag: FlagKind | None
    min_turns: int | None
    max_turns: int | None
    text: str | None


_MATCHING = (*Matching.__annotations__,)


class Search(Matching, Paging, total=False):
    """The criteria of a search, and the page of its results."""


class TranscriptOperations:
    """`/v1/conversations` and `/v1/collections/{id}/conversations`."""

    @operation
    def get_conversation(self, conversation_id: UUID) -> Call[ConversationOut]:
        """Return a conversation."""
        return Call(ConversationOut, "GET", f"/v1/conversations/{conversation_id}")

    @operation
    def get_exported_conversation(self, conversation_id: UUID) -> Call[ExportedConversation]:
        """Return a conversation in the form of its collection's export, with times, ratings and quality flags."""
        return Call(ExportedConversation, "GET", f"/v1/conversations/{conversation_id}/export")

    @operation
    def list_conversations(self, collection_id: UUID, **search: Unpack[Search]) -> Listing[ConversationOut]:
        """List the conversations of a collection that match the search, in the order of its plan.

        Without criteria, list all.

        In a search for a text, a page may have fewer items than requested although further pages follow.
        """
        path = f"/v1/collections/{collection_id}/conversations"
        return Listing(ConversationOut, path, search, params={name: search.get(name) for name in _MATCHING})

    @operation
    def get_neighbours(
        self, collection_id: UUID, conversation_id: UUID, **matching: Unpack[Matching]
    ) -> Call[NeighboursOut]:
        """Return the conversations before and after a conversation in the list of matching conversations."""
        path = f"/v1/collections/{collection_id}/conversations/{conversation_id}/neighbours"
        return Call(NeighboursOut, "GET", path, params=matching)

    @operation
    def list_conversations_of_bot(
        self, bot_id: UUID | None = None, *, bot: str | None = None, **paging: Unpack[Paging]
    ) -> Listing[BotConversationOut]:
        """List the conversations of a bot, given by its id or its name. A team may ask only for its own bots."""
        return Listing(BotConversationOut, "/v1/conversations", paging, params={"bot_id": bot_id, "bot": bot})

    @operation
    def get_bot_performance(
        self,
        bot_id: UUID | None = None,
        *,
        bot: str | None = None,
        collection_id: Sequence[UUID] = (),
        version: int | None = None,
    ) -> Call[BotPerformanceOut]:
        """Return a bot's performance: the states of its conversations, its failures and its latencies.

        `collection_id` selects the conversations of these collections; without ids, all conversations count.
        `version` selects the conversations of one version of the bot.
        """
        params = {"bot_id": bot_id, "bot": bot, "collection_id": collection_id, "version": version}
        return Call(BotPerformanceOut, "GET", "/v1/conversations/performance", params=params)

    @operation
    def stream_texts(self, collection_id: UUID) -> Ndjson[TextsOut]:
        """Stream the texts of all conversations of a collection, without their participants."""
        return Ndjson(TextsOut, f"/v1/collections/{collection_id}/texts/stream")

    @operation
    def stream_speakers(self, collection_id: UUID) -> Ndjson[SpeakersOut]:
        """Stream the participants of each conversation of a collection, without the texts."""
        return Ndjson(SpeakersOut, f"/v1/collections/{collection_id}/speakers/stream")

    @operation
    def stream_latencies(self, collection_id: UUID) -> Ndjson[LatenciesOut]:
        """Stream how long the turns of each conversation of a collection took, without the texts."""
        return Ndjson(LatenciesOut, f"/v1/collections/{collection_id}/latencies/stream")

    @operation
    def get_mix(self, collection_id: UUID, **mix: Unpack[Mixing]) -> Call[MixOut]:
        """Return how many conversations of these collections a campaign would take, and how many it would leave out."""
        return Call(MixOut, "GET", f"/v1/collections/{collection_id}/mix", params=mix)

    @operation
    def stream_strata(self, collection_id: UUID, **mix: Unpack[Mixing]) -> Ndjson[StratumOut]:
        """Stream a label for each conversation that a campaign takes.

        Conversations of the same two speakers have equal labels.

        The labels do not name the speakers.
        """
        return Ndjson(StratumOut, f"/v1/collections/{collection_id}/strata/stream", params=mix)

    @operation
    def stream_text_hashes(
        self, collection_id: UUID, *, shown: int | None = None, **mix: Unpack[Mixing]
    ) -> Ndjson[TextHashOut]:
        """Stream a hash of the text of each conversation that a campaign takes.

        The text is the first `shown` exchanges, or all.

        Conversations with the same words have the same hash.
        """
        params = {"shown": shown, **mix}
        return Ndjson(TextHashOut, f"/v1/collections/{collection_id}/text-hashes/stream", params=params)

    @operation
    def stream_interactors(self, collection_id: UUID, *, also: Sequence[UUID] = ()) -> Ndjson[InteractorOut]:
        """Stream one salted hash for each conversation. It stands for the person who chatted in it, if any."""
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
        self, collection_id: UUID, batch: ConversationBatchIn, **key: Unpack[IdempotencyKey]
    ) -> Call[StoredOut]:
        """Add conversations to an import collection. Conversations that exist already stay unchanged."""
        return Call(StoredOut, "POST", f"/v1/collections/{collection_id}/conversations", body=batch, **key)

    @operation
    def upload_export(self, collection_id: UUID, content: Path | bytes | Iterable[bytes]) -> Call[ImportedOut]:
        """Store the conversations of an exported file, one in each line, in an import collection.

        A repeated upload changes nothing.
        """
        return Call(ImportedOut, "POST", f"/v1/collections/{collection_id}/uploads", content=Content(content))
