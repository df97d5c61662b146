"""Marks of a collection's conversations, and the account of its quality."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.wire import Split, Wire

MarkKind = Literal["exact_duplicate", "near_duplicate", "in_training", "profanity", "personal_data"]


class TrainingSplit(Wire):
    """What the bots may have learned from."""

    corpus_id: UUID
    split: Split = "train"


class MarksIn(Wire):
    """What to hold a collection's conversations against."""

    training: TrainingSplit | None = Field(
        default=None, description="A split whose exchanges are looked for; without one, nothing is said about training."
    )


class MarkingState(StrEnum):
    """Where the marking of a collection stands."""

    WAITING = "waiting"
    MARKING = "marking"
    COMPARING = "comparing"
    DONE = "done"
    FAILED = "failed"


class MarkingOut(Wire):
    """How far the marking of a collection is."""

    collection_id: UUID
    state: MarkingState
    failure: str | None
    training: TrainingSplit | None
    conversations: int = Field(description="Complete conversations of the collection.")
    marked: int = Field(description="Those that are marked.")
    requested_at: datetime
    marked_at: datetime | None = Field(description="When the account of the quality was last drawn up.")


class PersonalDataOut(Wire):
    """Something in a turn that looks like personal data."""

    position: int = Field(description="Which turn, from 0.")
    kind: str = Field(examples=["email", "phone"])


class MarkOut(Wire):
    """What is noted of a conversation; nothing is deleted for it."""

    conversation_id: UUID
    turns: int
    words: int
    language: str | None = Field(description="ISO 639-1; null where fewer than five different words are said.")
    language_probability: float | None
    exact_duplicate_of: UUID | None = Field(description="The first conversation with the same words.")
    near_duplicate_of: UUID | None = Field(description="The earlier conversation that it resembles most.")
    similarity: float | None = Field(description="Jaccard similarity to it, of sequences of three words; estimated.")
    exchanges: int = Field(description="Two adjacent turns each.")
    in_training: int | None = Field(
        description="Exchanges that stand in the training split; null where none was named."
    )
    profanity: tuple[int, ...] = Field(description="Turns, from 0, with a profane word.")
    personal_data: tuple[PersonalDataOut, ...]


class DistributionOut(Wire):
    """How a number is distributed over conversations."""

    mean: float
    minimum: int
    tenth: int = Field(description="A tenth of the conversations have no more.")
    median: int
    ninetieth: int = Field(description="Nine tenths of the conversations have no more.")
    maximum: int


class FlagOut(Wire):
    """How many conversations bear a mark."""

    conversations: int
    share: float | None = Field(description="Of the marked conversations; null where there are none.")


class TrainingShareOut(Wire):
    """How much of what was said stands in the training split."""

    corpus_id: UUID
    split: str
    exchanges: int
    in_training: int
    share: float | None
    definition: str


class AccountOut(Wire):
    """The quality of a collection, as far as text tells it."""

    conversations: int
    turns: DistributionOut | None
    words: DistributionOut | None
    words_per_turn: float | None
    languages: dict[str, int] = Field(description="Conversations by ISO 639-1; `unknown` for those too short to tell.")
    exact_duplicates: FlagOut
    near_duplicates: FlagOut = Field(description="Beside the exact ones.")
    profanity: FlagOut
    personal_data: FlagOut
    personal_data_kinds: dict[str, int] = Field(description="Conversations by what was found.")
    training: TrainingShareOut | None


class QualityOut(Wire):
    """The account of a collection's quality, and how far its marking is."""

    marking: MarkingOut
    account: AccountOut | None = Field(description="Of the last marking that ended; null before the first has.")
