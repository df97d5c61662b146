"""Corpora of human dialogues."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from spotthebot.contracts.batches import MAX_BATCH_SIZE
from spotthebot.contracts.names import ReadableName
from spotthebot.contracts.turns import MAX_TURNS
from spotthebot.contracts.wire import Domain, ExternalId, Name, Split, Text, Utterance, Wire


def _storable(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse metadata that PostgreSQL's JSON can't hold."""
    text = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    text.encode()
    if len(text) > 20_000 or "\\u0000" in text:
        message = "must be JSON of 20,000 characters at most, without NUL characters"
        raise ValueError(message)
    return metadata


Metadata = Annotated[dict[str, Any], Field(max_length=200), AfterValidator(_storable)]


class CorpusVisibility(StrEnum):
    """Which bots may learn from a corpus."""

    PRIVATE = "private"
    """Bots of its owner, and the operator's bots."""
    SHARED = "shared"
    """Bots of every team."""


class CorpusIn(Wire):
    """A corpus to create; its dialogues follow in batches."""

    name: ReadableName
    domain: Domain
    origin: Annotated[Text, StringConstraints(max_length=1000)] = Field(description="Who wrote or published it.")
    licence: Annotated[Text, StringConstraints(max_length=200)]
    owner: Name | None = Field(default=None, description="The team that it belongs to; null: the operator.")
    visibility: CorpusVisibility = Field(default=CorpusVisibility.PRIVATE, description="Whose bots may learn from it.")


class CorpusChangesIn(Wire):
    """Changes of a corpus: which bots may learn from it. Fields that are left out stay unchanged."""

    owner: Name | None = Field(default=None, description="The team that it belongs to; null: the operator.")
    visibility: CorpusVisibility = CorpusVisibility.PRIVATE


class CorpusFormat(StrEnum):
    """The file formats in which a corpus can be uploaded."""

    JSONL = "jsonl"
    DAILYDIALOG = "dailydialog"
    EMPATHETIC = "empathetic"
    PARLAI = "parlai"
    SPOT_THE_BOT = "spot_the_bot"


@dataclass(frozen=True)
class Upload:
    """How the dialogues of a file are put into splits.

    All go into `split`, or they are shared out among `splits`, or the file says it.
    """

    form: CorpusFormat
    split: str | None
    splits: str | None
    bots_too: bool


class SplitStatisticsOut(Wire):
    """The size of a split; means are null if it is empty."""

    dialogues: int
    utterances: int
    mean_exchanges: float | None = Field(
        description="Exchanges of a dialogue, a turn of each speaker; half an exchange does not count."
    )
    words_per_turn: float | None = Field(description="Words of an utterance: runs of letters, digits and underscores.")


class CorpusOut(Wire):
    """A corpus and its size."""

    id: UUID
    name: str
    domain: str
    origin: str
    licence: str
    owner: str | None = Field(description="The team that it belongs to; null: the operator.")
    visibility: CorpusVisibility
    dialogues: dict[str, int] = Field(max_length=100_000, description="Number of dialogues by split.")
    statistics: dict[str, SplitStatisticsOut] = Field(
        max_length=100_000, description="By split, kept up to date by each upload."
    )
    created_at: datetime


class DialogueIn(Wire):
    """A human dialogue: turns alternate between two speakers, the first one begins."""

    key: ExternalId = Field(description="Unique in the corpus: uploading it again changes nothing.")
    split: Split
    turns: tuple[Annotated[Utterance, StringConstraints(min_length=1)], ...] = Field(
        min_length=2, max_length=1000, fail_fast=True
    )
    persona: tuple[Utterance, Utterance] | None = Field(default=None, description="One for each speaker.")
    metadata: Metadata | None = Field(default=None, description="Whatever else the source says, as a JSON object.")


class DialogueOut(Wire):
    """A dialogue of a corpus."""

    key: str
    split: str
    turns: tuple[str, ...] = Field(max_length=MAX_TURNS)
    persona: tuple[str, str] | None
    metadata: Annotated[dict[str, Any], Field(max_length=200)] | None


class LearnableRevisionOut(Wire):
    """A revision of the dialogues of a split that bots may learn from.

    If these dialogues change, the revision changes.
    """

    revision: str


class DialogueBatchIn(Wire):
    """Dialogues to add."""

    dialogues: tuple[DialogueIn, ...] = Field(min_length=1, max_length=MAX_BATCH_SIZE)


class RejectedLineOut(Wire):
    """A line of an upload without a valid dialogue."""

    line: int = Field(description="Counted from 1.")
    reason: str


class RejectedOut(Wire):
    """The number of rejected dialogues, and the first hundred of them."""

    count: int
    first: tuple[RejectedLineOut, ...] = Field(max_length=100)


class UploadOut(Wire):
    """The result of a file upload; `read` is the sum of the other counts."""

    read: int
    stored: int
    already_there: int = Field(description="Known by their key, with the same turns.")
    skipped: int = Field(description="Dialogues with bots that were not asked for.")
    rejected: RejectedOut
