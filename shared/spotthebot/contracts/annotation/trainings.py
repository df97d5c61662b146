"""Trainings: dialogues with known right answers, which teach annotators a protocol and check them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.entries import AnnotatorIn
from spotthebot.contracts.annotation.protocols import AnnotationProtocol, Identifier
from spotthebot.contracts.turns import MAX_TURNS, Turn
from spotthebot.contracts.wire import Text, Wire, Words

MAX_DIALOGUES = 200
"""Dialogues of one training."""

MAX_WORKFORCES: Final = 1000
"""The largest workforces whose results are listed."""

MAX_ATTEMPTS: Final = 20
"""The attempts of one annotator at a training, including granted ones."""

Target = Annotated[str, StringConstraints(pattern=r"^(unit|A|B|0|[1-9][0-9]{0,2})$")]
"""The target of a question: a side, a turn by its number from 0, or the whole unit."""
Explanation = Annotated[Text, StringConstraints(max_length=5000)]


class TrainingDialogue(Wire):
    """A dialogue, or the two dialogues of a pair, with the right answer and its explanation."""

    turns: tuple[Turn, ...] = Field(
        min_length=1, max_length=MAX_TURNS, description="Of a pair: the dialogue on the left, A of answers."
    )
    right_turns: tuple[Turn, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_TURNS,
        description="Of a pair: the dialogue on the right, B of answers; null of all other units.",
    )
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


class TrainingState(StrEnum):
    """The state of an attempt at a training."""

    IN_PROGRESS = "in_progress"
    PASSED = "passed"
    FAILED = "failed"


class TrainingStartIn(AnnotatorIn):
    """An annotator's request to start the campaign's training, or to continue it."""


class TrainingTaskOut(Wire):
    """The next task of an annotator in the training."""

    state: TrainingState
    attempt: int = Field(description="Which attempt this is, from 1.")
    attempts_left: int = Field(description="How many more the annotator may begin when this one fails.")
    dialogues: int
    position: int | None = Field(description="Of the dialogue to answer now, from 0; null where the attempt ended.")
    turns: tuple[Turn, ...] = Field(
        max_length=MAX_TURNS, description="Its turns; of a pair those of the dialogue on the left, A of answers."
    )
    right_turns: tuple[Turn, ...] | None = Field(
        max_length=MAX_TURNS,
        description="Of a pair: the dialogue on the right, B of answers; null of all other units.",
    )
    instructions: str
    protocol: AnnotationProtocol


class TrainingAnswerIn(AnnotatorIn):
    """The whole answer to a dialogue of the training; it is final."""

    attempt: int = Field(ge=1, le=MAX_ATTEMPTS, description="Which attempt this is, from 1.")
    answer: Answer


class TargetFeedbackOut(Wire):
    """The right or wrong values of an answer about one target: a turn, a side, or the whole unit."""

    target: str
    given: Answer
    right: tuple[Answer, ...] = Field(max_length=21, description="The right answers; the first is the best one.")
    is_right: bool
    explanation: str


class FeedbackOut(Wire):
    """The right and wrong values in the answer to a dialogue."""

    position: int
    mistakes: int
    targets: tuple[TargetFeedbackOut, ...] = Field(max_length=MAX_TURNS + 3)
    state: TrainingState = Field(description="Passed or failed with the answer to the last dialogue.")


class SavedTrainingAnswerOut(Wire):
    """An annotator's answer to a dialogue of a training."""

    position: int
    answer: Answer
    mistakes: int
    answered_at: datetime


class TrainingAttemptOut(Wire):
    """An annotator's attempt at a training."""

    attempt: int
    state: TrainingState
    started_at: datetime
    ended_at: datetime | None
    answers: tuple[SavedTrainingAnswerOut, ...] = Field(max_length=MAX_DIALOGUES)


class TrainingRecordOut(Wire):
    """All attempts and answers of an annotator in the training of a campaign."""

    attempts: tuple[TrainingAttemptOut, ...] = Field(max_length=MAX_ATTEMPTS)
    granted: int = Field(description="Attempts that were granted beyond those that the campaign gives everybody.")
    attempts_left: int = Field(description="How many more the annotator may begin; 0 once one is passed.")


class TrainingDialogueResultOut(Wire):
    """How people of a workforce did in a dialogue of the training, in their first attempt."""

    position: int = Field(description="The dialogue's position in the training, from 0.")
    people: int = Field(description="The people who answered the dialogue.")
    within_allowed: int = Field(description="Those of them who made no more mistakes than the last dialogue allows.")
    mistakes: int = Field(description="The mistakes of them all.")


class WorkforceResultOut(Wire):
    """How the people who came by one frontend and one shared link did in the training."""

    frontend: str = Field(description="The owner of the frontend's key; `erased` for people who were erased.")
    link: UUID | None = Field(description="The link by which many may enter; null: a link of one's own, or none.")
    people: int = Field(description="The people who started the training.")
    passed: int = Field(description="Those of them who passed, in whichever attempt.")
    passed_first: int = Field(description="Those of them who passed in their first attempt.")
    failed: int = Field(description="Those of them whose last attempt so far was failed.")
    pass_rate: float | None = Field(
        description="The share of those who passed among those who passed or failed; null: nobody did either."
    )
    dialogues: tuple[TrainingDialogueResultOut, ...] = Field(max_length=MAX_DIALOGUES)


class TrainingResultsOut(Wire):
    """The pass rates of a campaign's training by workforce, and what people did in each dialogue.

    ABC-Eval (Finch, Finch & Choi 2023), Figure 9.
    """

    training: str
    version: int
    allowed_mistakes: int = Field(description="Turns, sides or units of the last dialogue that may be wrong.")
    workforces: tuple[WorkforceResultOut, ...] = Field(max_length=MAX_WORKFORCES, description="The largest first.")


class TrainingGrantIn(Wire):
    """The reason why an annotator who failed the training may try once more."""

    reason: Words
