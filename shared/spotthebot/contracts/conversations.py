"""Corpora, collections and conversations, as the service `conversations` speaks of them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, NewType
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from spotthebot.contracts.wire import Domain, ExternalId, Name, Split, Text, Utterance, Wire

CorpusId = NewType("CorpusId", UUID)
CollectionId = NewType("CollectionId", UUID)
ConversationId = NewType("ConversationId", UUID)

HUMAN_NAME = "HU"
"""What results call people, as the paper does."""

MOST_IN_A_BATCH = 1000
"""Rows that one bulk request may hold."""


class CorpusIn(Wire):
    """A corpus to create; its dialogues follow in batches."""

    name: Name
    domain: Domain
    origin: Annotated[Text, StringConstraints(max_length=1000)] = Field(description="Who wrote or published it.")
    licence: Annotated[Text, StringConstraints(max_length=200)]


class CorpusOut(Wire):
    """A corpus and how much is in it."""

    id: UUID
    name: str
    domain: str
    origin: str
    licence: str
    dialogues: dict[str, int] = Field(description="Number of dialogues by split.")
    created_at: datetime


class DialogueIn(Wire):
    """A human dialogue: turns alternate between two speakers, the first one begins."""

    key: ExternalId = Field(description="Unique in the corpus: uploading it again changes nothing.")
    split: Split
    turns: tuple[Annotated[Utterance, StringConstraints(min_length=1)], ...] = Field(min_length=2, max_length=1000)


class DialogueOut(Wire):
    """A dialogue of a corpus."""

    key: str
    split: str
    turns: tuple[str, ...]


class DialogueBatchIn(Wire):
    """Dialogues to add."""

    dialogues: tuple[DialogueIn, ...] = Field(min_length=1, max_length=MOST_IN_A_BATCH)


class StoredOut(Wire):
    """What became of a batch: rows with a known key are left as they are."""

    stored: int
    already_there: int


class Opening(Wire):
    """How conversations begin: utterances of people, drawn from a corpus without replacement until all were used."""

    corpus_id: UUID
    split: Split = "openings"
    take: Literal["first_utterance", "first_exchange"] = "first_exchange"
    shown: bool = Field(default=False, description="Whether judges see the opening.")


class HumanPool(Wire):
    """Dialogues of a corpus that become human-human conversations of a collection."""

    corpus_id: UUID
    split: Split = "openings"
    conversations: int = Field(ge=1, le=100_000)


class AllPlayAllIn(Wire):
    """Every pair of bots talks; a bot never talks to itself."""

    mode: Literal["all_play_all"]
    name: Name
    domain: Domain
    bots: tuple[UUID, ...] = Field(min_length=2, max_length=100)
    exchanges: int = Field(ge=1, le=100, description="An exchange is a turn of each; the opening is not counted.")
    conversations_per_pair: int = Field(ge=1, le=10_000)
    order: Literal["both", "first"] = Field(
        default="both", description="`both`: each bot begins half of a pair's conversations."
    )
    opening: Opening | None = None
    humans: HumanPool | None = Field(default=None, description="Human-human conversations to mix in.")
    seed: int = Field(default=0, ge=0, lt=2**31)

    @model_validator(mode="after")
    def _bots_differ(self) -> "AllPlayAllIn":
        if len(set(self.bots)) < len(self.bots):
            message = "a bot is named twice: in all_play_all a bot does not talk to itself"
            raise ValueError(message)
        return self


class ImportIn(Wire):
    """A collection whose conversations were held elsewhere and are uploaded in batches."""

    mode: Literal["import"]
    name: Name
    domain: Domain


CollectionIn = Annotated[AllPlayAllIn | ImportIn, Field(discriminator="mode")]


class CollectionState(StrEnum):
    """Where a collection stands."""

    COLLECTING = "collecting"
    COMPLETE = "complete"


class CollectionOut(Wire):
    """A collection and how far it is."""

    id: UUID
    name: str
    domain: str
    mode: str
    state: CollectionState
    conversations: int
    complete: int
    failed: int
    turns: int
    created_at: datetime


class ParticipantKind(StrEnum):
    """What speaks."""

    BOT = "bot"
    HUMAN = "human"


class Participant(Wire):
    """One side of a conversation."""

    kind: ParticipantKind
    name: Name = Field(description="What results call it; all humans are HU.")
    bot_id: UUID | None = Field(default=None, description="The registered bot; null for people and imported bots.")
    version: int | None = Field(
        default=None, ge=1, lt=2**31, description="The version of the bot that speaks throughout."
    )
    configuration_sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] | None = Field(
        default=None, description="Hash of all that decides what this version answers, a hosted model's files included."
    )
    system: Annotated[Text, StringConstraints(max_length=500)] | None = Field(
        default=None, description="What the source called the system, where it was imported."
    )

    @model_validator(mode="after")
    def _humans_are_hu(self) -> "Participant":
        if (self.kind is ParticipantKind.HUMAN) != (self.name == HUMAN_NAME):
            message = f"humans, and only they, are called {HUMAN_NAME}"
            raise ValueError(message)
        return self


class Turn(Wire):
    """One utterance; speaker A is the first participant."""

    speaker: Literal["A", "B"]
    text: Utterance


class ConversationIn(Wire):
    """A conversation that was held elsewhere."""

    external_id: ExternalId = Field(description="Unique in the collection: uploading it again changes nothing.")
    participants: tuple[Participant, Participant]
    turns: tuple[Turn, ...] = Field(min_length=1, max_length=1000)

    @model_validator(mode="after")
    def _speakers_alternate(self) -> "ConversationIn":
        if any(before.speaker == after.speaker for before, after in zip(self.turns, self.turns[1:], strict=False)):
            message = "speakers must alternate"
            raise ValueError(message)
        if self.turns[0].speaker != "A":
            message = "the first participant, A, speaks first"
            raise ValueError(message)
        return self


class ConversationBatchIn(Wire):
    """Conversations to add to an import collection."""

    conversations: tuple[ConversationIn, ...] = Field(min_length=1, max_length=MOST_IN_A_BATCH)


class ConversationState(StrEnum):
    """Where a conversation stands."""

    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


class SpeakersOut(Wire):
    """Who speaks in a conversation, without what they say."""

    id: UUID
    state: "ConversationState"
    participants: tuple["Participant", "Participant"]


class ConversationOut(Wire):
    """A conversation with its turns so far; `opening` holds what people said before the first of them."""

    id: UUID
    collection_id: UUID
    external_id: str | None
    state: ConversationState
    failure: str | None
    participants: tuple[Participant, Participant]
    opening: tuple[Turn, ...]
    opening_shown: bool = Field(description="Whether judges see the opening.")
    turns: tuple[Turn, ...]
