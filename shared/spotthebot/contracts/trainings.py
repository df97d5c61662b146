"""Trainings: dialogues whose right answers are known, by which annotators learn a protocol and are checked."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spotthebot.contracts.annotation import Answer
from spotthebot.contracts.protocols import Identifier
from spotthebot.contracts.turns import MAX_TURNS, Turn
from spotthebot.contracts.wire import Text, Wire

MAX_DIALOGUES = 200
"""Dialogues of one training."""

Target = Annotated[str, StringConstraints(pattern=r"^(unit|A|B|0|[1-9][0-9]{0,2})$")]
"""What a question is asked of: a side, a turn by its number from 0, or the whole unit."""
Explanation = Annotated[Text, StringConstraints(max_length=5000)]


class TrainingDialogue(Wire):
    """A dialogue, the right answer to it, and why it is right."""

    turns: tuple[Turn, ...] = Field(min_length=1, max_length=MAX_TURNS)
    gold: Answer = Field(description="A whole answer by the protocol.")
    accepted: dict[Target, Annotated[tuple[Answer, ...], Field(min_length=1, max_length=20)]] = Field(
        default_factory=dict,
        max_length=MAX_TURNS,
        description="Other answers that are right as well, by turn, side or unit: values by question.",
    )
    explanations: dict[Target, Explanation] = Field(
        default_factory=dict, max_length=MAX_TURNS, description="What annotators read after their answer."
    )


class Training(Wire):
    """Dialogues with their right answers; a version never changes."""

    format: Literal[1] = Field(description="Version of this form of documents.")
    name: Identifier
    version: int = Field(ge=1, lt=2**31)
    title: Annotated[Text, StringConstraints(min_length=1, max_length=200)]
    source: Annotated[Text, StringConstraints(max_length=500)] = Field(
        default="", description="Where the dialogues come from."
    )
    protocol: Identifier = Field(description="The protocol that is learned.")
    protocol_version: int = Field(ge=1, lt=2**31)
    questions: tuple[Identifier, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Questions whose answers are right or wrong; null: all but those of free text.",
    )
    allowed_mistakes: int = Field(
        ge=0, le=1000, description="Turns, sides or units of one dialogue that may be wrong, and it is still passed."
    )
    dialogues: tuple[TrainingDialogue, ...] = Field(
        min_length=1, max_length=MAX_DIALOGUES, description="In the order of the training; the last one decides."
    )


class TrainingIn(Wire):
    """A training to store."""

    training: Training


class TrainingOut(Wire):
    """A stored training."""

    training: Training
    created_at: datetime


class TrainingSummaryOut(Wire):
    """A training without its dialogues."""

    name: str
    version: int
    title: str
    protocol: str
    protocol_version: int
    dialogues: int
    created_at: datetime
