"""The rows of a collection's export: the same fields in every format, and in an import of the exported file."""

from itertools import pairwise
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from spotthebot.contracts.annotation.annotations import AnnotatorKind, with_kind
from spotthebot.contracts.conversations.chats import Score
from spotthebot.contracts.conversations.conversations import ConversationState, Ending, Participant, Personas
from spotthebot.contracts.conversations.corpora import RejectedOut
from spotthebot.contracts.conversations.ids import Mode
from spotthebot.contracts.conversations.quality import PersonalDataOut
from spotthebot.contracts.turns import MAX_TURNS, Turn
from spotthebot.contracts.wire import Domain, ExternalId, Name, Text, Wire


class ExportedTurn(Turn):
    """One utterance, with everything that is known about how it was made."""

    raw: Text | None = Field(description="What the bot said, where debris was removed from it; else null.")
    latency_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
    said_at: AwareDatetime | None


class ExportedQualityFlags(Wire):
    """The quality flags of a conversation. They name other conversations by their ids in the export."""

    words: int
    language: str | None = Field(description="ISO 639-1; null where too little is said to tell.")
    language_probability: float | None
    exact_duplicate_of: ExternalId | None = Field(description="The first conversation with the same words.")
    near_duplicate_of: ExternalId | None = Field(description="The earlier conversation that it resembles most.")
    similarity: float | None = Field(description="Jaccard similarity to it, estimated.")
    in_training: int | None = Field(
        description="Exchanges that stand in the training split; null where none was named."
    )
    profanity: tuple[int, ...] = Field(max_length=MAX_TURNS, description="Turns, from 0, with a profane word.")
    personal_data: tuple[PersonalDataOut, ...] = Field(max_length=100_000)


class ExportedScore(Wire):
    """A person's score of a conversation for one question."""

    question: Annotated[Text, StringConstraints(min_length=1, max_length=50)]
    score: Score


class ExportedPreference(Wire):
    """Which conversation of a chat was better for one question."""

    question: Annotated[Text, StringConstraints(min_length=1, max_length=50)]
    preferred: int | None = Field(ge=1, le=2, description="Counted from 1; null: neither.")


class ExportedRating(Wire):
    """A person's rating of a conversation, as part of their ratings of the whole chat."""

    chat_id: UUID = Field(description="Conversations of one chat are rated together.")
    interactor: ExternalId = Field(description="The person's pseudonym; of a program its name.")
    interactor_kind: AnnotatorKind
    number: int = Field(ge=1, le=2, description="Which conversation of the chat this is, counted from 1.")
    scores: tuple[ExportedScore, ...] = Field(max_length=50, description="Empty where the partner broke off.")
    preferred: int | None = Field(ge=1, le=2, description="Which conversation of the chat was better; null: none.")
    preferences: tuple[ExportedPreference, ...] = Field(
        default=(), max_length=50, description="Empty where the comparison was not made for each question."
    )
    rated_at: AwareDatetime

    @model_validator(mode="before")
    @classmethod
    def _states_kinds(cls, row: object) -> object:
        return with_kind(row, "interactor")


class ExportedConversation(Wire):
    """One whole conversation. An export that is imported and exported again stays the same."""

    id: ExternalId = Field(description="Its id; for an imported one the id that it was imported with.")
    collection: Name
    domain: Domain
    mode: Mode = Field(description="How it was held; `import` where its source did not say.")
    collection_cancelled: bool = Field(
        description="Whether the collection was cancelled: its conversations are not all that were planned.",
    )
    bots: tuple[Name, Name] = Field(description="What results call A and B; all humans are HU.")
    participants: tuple[Participant, Participant]
    personas: Personas | None = Field(default=None, description="Null: nobody was given one.")
    opening: tuple[Turn, ...] = Field(max_length=1000, description="What people said before the first turn.")
    opening_shown: bool = Field(description="Whether annotators see the opening.")
    seed: int = Field(ge=0, lt=2**31)
    state: ConversationState
    ended_by: Ending | None
    failure: Annotated[Text, Field(max_length=1000)] | None
    turns: tuple[ExportedTurn, ...] = Field(max_length=1000)
    rating: ExportedRating | None = Field(
        description="How the person rated it; null where nobody did.",
    )
    quality_flags: ExportedQualityFlags | None = Field(
        description="Null before the quality check; an import ignores them and computes them again."
    )

    @model_validator(mode="after")
    def _says_the_same_throughout(self) -> "ExportedConversation":
        said = [turn.speaker for turn in (*self.opening, *self.turns)]
        if any(before == after for before, after in pairwise(said)):
            message = "speakers must alternate, from the opening into the turns"
            raise ValueError(message)
        if (self.turns and self.turns[0].speaker != "A") or (self.opening and self.opening[-1].speaker != "B"):
            message = "A, the first participant, speaks first: an opening ends with B"
            raise ValueError(message)
        if self.bots != tuple(side.name for side in self.participants):
            message = "bots must be the names of the participants"
            raise ValueError(message)
        return self


class ImportedOut(Wire):
    """The result of uploading an export; `read` is the sum of the other counts."""

    read: int
    stored: int
    already_there: int = Field(description="Known by their id, and the same.")
    rejected: RejectedOut
