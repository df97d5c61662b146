"""Quality flags of a collection's conversations, and the summary of its quality."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.repeated_texts import MAX_REPEATED, RepeatedTexts
from spotthebot.contracts.turns import MAX_TURNS
from spotthebot.contracts.wire import Split, Wire

FlagKind = Literal["exact_duplicate", "near_duplicate", "in_training", "profanity", "personal_data"]


class TrainingSplit(Wire):
    """A split of a corpus that bots may have been trained on."""

    corpus_id: UUID
    split: Split = "train"


class QualityCheckIn(Wire):
    """A request to check a collection's conversations."""

    training: TrainingSplit | None = Field(
        default=None,
        description="A split whose exchanges are searched for; without one, training is not flagged.",
    )


class QualityCheckState(StrEnum):
    """State of a collection's quality check."""

    WAITING = "waiting"
    FLAGGING = "flagging"
    COMPARING = "comparing"
    DONE = "done"
    FAILED = "failed"


class QualityCheckOut(Wire):
    """The progress of a collection's quality check."""

    collection_id: UUID
    state: QualityCheckState
    failure: str | None
    training: TrainingSplit | None
    conversations: int = Field(description="Complete conversations of the collection.")
    flagged: int = Field(description="Those that have flags.")
    requested_at: datetime
    checked_at: datetime | None = Field(description="When the latest summary was made.")


class PersonalDataOut(Wire):
    """A part of a turn that looks like personal data."""

    position: int = Field(description="Which turn, from 0.")
    kind: str = Field(examples=["email", "phone"])


class QualityFlagsOut(Wire):
    """The flags of a conversation; no conversation is deleted because of a flag."""

    conversation_id: UUID
    exported_id: str = Field(description="Its id in the collection's export; imported ones keep the id they came with.")
    turns: int
    words: int
    language: str | None = Field(description="ISO 639-1; null where fewer than five different words are said.")
    language_probability: float | None
    exact_duplicate_of: UUID | None = Field(description="The first conversation with the same words.")
    near_duplicate_of: UUID | None = Field(description="The earlier conversation that it resembles most.")
    exact_duplicate_of_exported: str | None = Field(description="The id in the export of `exact_duplicate_of`.")
    near_duplicate_of_exported: str | None = Field(description="The id in the export of `near_duplicate_of`.")
    similarity: float | None = Field(description="Jaccard similarity to it, of sequences of three words; estimated.")
    exchanges: int = Field(description="Two adjacent turns each.")
    in_training: int | None = Field(
        description="Exchanges that stand in the training split; null where none was named."
    )
    profanity: tuple[int, ...] = Field(max_length=MAX_TURNS, description="Turns, from 0, with a profane word.")
    personal_data: tuple[PersonalDataOut, ...] = Field(max_length=100_000)


class DistributionOut(Wire):
    """The distribution of one number, which each conversation has, over the conversations of a collection."""

    mean: float
    minimum: int
    tenth: int = Field(description="A tenth of the conversations have no more.")
    median: int
    ninetieth: int = Field(description="Nine tenths of the conversations have no more.")
    maximum: int


class FlagCountOut(Wire):
    """The number of conversations with a flag."""

    conversations: int
    share: float | None = Field(description="Of the flagged conversations; null where there are none.")


class TrainingShareOut(Wire):
    """The share of the bots' utterances that also occur in a split that bots may have been trained on."""

    corpus_id: UUID
    split: str
    exchanges: int
    in_training: int
    share: float | None
    definition: str


class QualitySummaryOut(Wire):
    """The quality of a collection, measured on its texts."""

    conversations: int
    turns: DistributionOut | None
    words: DistributionOut | None
    words_per_turn: float | None
    languages: dict[str, int] = Field(
        max_length=1000, description="Conversations by ISO 639-1; `unknown` for those too short to tell."
    )
    exact_duplicates: FlagCountOut
    near_duplicates: FlagCountOut = Field(description="Beside the exact ones.")
    profanity: FlagCountOut
    personal_data: FlagCountOut
    personal_data_kinds: dict[str, int] = Field(max_length=100, description="Conversations by what was found.")
    training: TrainingShareOut | None


class QualityOut(Wire):
    """The summary of a collection's quality, and the progress of its check."""

    check: QualityCheckOut
    summary: QualitySummaryOut | None = Field(description="Of the latest check that ended; null before the first.")
    repeated_texts: tuple[RepeatedTexts, ...] = Field(
        max_length=MAX_REPEATED, description="Speakers whose flagged conversations repeat one another's words."
    )
