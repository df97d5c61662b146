"""Protocols of annotation: documents that define what annotators see and which questions they answer.

The models define the fields and their sizes. The service `annotation` checks dependencies between parts, such as a
condition that names an earlier question.
"""

import json
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, StrictInt, StringConstraints

from spotthebot.contracts.annotation.annotations import Preference
from spotthebot.contracts.wire import Text, Wire

LABELS_OF_SPEAKERS: Final = frozenset({"spot_the_bot", "spot_the_bot_labels"})
"""Protocols that ask who is a bot, and nothing that the first does not ask: their labels give rankings and survival."""
GAME: Final = "spot_the_bot_gamified"
"""The built-in protocol whose annotators see a leaderboard."""
MAX_QUESTIONS: Final = 200
"""The number of questions of a protocol, follow-ups included."""
MAX_NESTING: Final = 5
"""Levels of questions: a question, its follow-ups, theirs, and so on."""
MAX_SCALE_POINTS: Final = 21


def _at_least(count: int) -> AfterValidator:
    """Return a validator that checks the number of items after all of them are valid.

    pydantic's own check counts only valid items, so that each invalid item would cause a second fault.
    """

    def counted(items: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(items) < count:
            message = f"must hold at least {count} item{'s' if count > 1 else ''}"
            raise ValueError(message)
        return items

    return AfterValidator(counted)


Side: TypeAlias = Literal["A", "B"]
Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,49}$")]
ChoiceValue = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_]{0,49}$")]
_Title = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
_Prompt = Annotated[Text, StringConstraints(min_length=1, max_length=2000)]
_Help = Annotated[Text, StringConstraints(max_length=5000)]
_ScalePoint = Annotated[int, Field(ge=-100, le=100)]
_ScalePointKey = Annotated[str, StringConstraints(pattern=r"^(0|-?[1-9][0-9]{0,2})$")]
_ConditionValue = (
    Annotated[str, StringConstraints(min_length=1, max_length=50)] | Annotated[StrictInt, Field(ge=-100, le=100)]
)


class SegmentUnit(Wire):
    """The first exchanges of a conversation; the campaign sets how many."""

    kind: Literal["segment"]


class DialogueUnit(Wire):
    """A whole conversation."""

    kind: Literal["dialogue"]


class TurnsUnit(Wire):
    """A whole conversation. Annotators annotate its turns one by one: the turns of one speaker, or of both."""

    kind: Literal["turns"]
    speaker: Literal["A", "B", "both"] = Field(description="Whose turns are annotated.")


class PairUnit(Wire):
    """Two conversations side by side: A on the left, B on the right."""

    kind: Literal["pair"]


Unit = Annotated[SegmentUnit | DialogueUnit | TurnsUnit | PairUnit, Field(discriminator="kind")]


class When(Wire):
    """A condition: the answer to an earlier question, about the same side or turn, is one of these values."""

    question: Identifier = Field(description="An earlier question: one of the same `per`, or one per unit.")
    any_of: Annotated[tuple[_ConditionValue, ...], _at_least(1)] = Field(
        max_length=50,
        json_schema_extra={"minItems": 1},
        description="Values of its choices, points of its scale, or A, B and tie.",
    )


class _Question(Wire):
    id: Identifier = Field(description="The question's name in answers and results; each only once in a protocol.")
    text: _Prompt = Field(description="What the annotator is asked.")
    help: _Help = Field(default="", description="Definitions and examples, shown on demand.")
    per: Literal["unit", "side", "turn"] = Field(
        default="unit", description="Asked once, once for each side, or once for each turn of the unit's speaker."
    )
    required: bool = Field(default=True, description="Whether the unit can't be submitted without an answer.")
    when: When | None = Field(default=None, description="Asked only where this holds; left out: always.")


class SingleQuestion(_Question):
    """A question whose answer is one of several choices."""

    kind: Literal["single"]
    choices: Annotated[tuple["Choice", ...], _at_least(2)] = Field(max_length=50, json_schema_extra={"minItems": 2})


class MultipleQuestion(_Question):
    """A question whose answer is any number of the choices, or none."""

    kind: Literal["multiple"]
    choices: Annotated[tuple["Choice", ...], _at_least(1)] = Field(max_length=50, json_schema_extra={"minItems": 1})


class LikertQuestion(_Question):
    """A question whose answer is a point on a scale."""

    kind: Literal["likert"]
    scale: "Scale"


class PreferenceQuestion(_Question):
    """A question whose answer is side A, side B, or `tie`.

    In a pair, A is the conversation on the left, B on the right.
    """

    kind: Literal["preference"]
    labels: dict[Preference, _Prompt] = Field(
        default_factory=dict, max_length=3, description="What the annotator reads for A, B and tie."
    )


class TextQuestion(_Question):
    """A question whose answer is free text."""

    kind: Literal["text"]
    max_length: int = Field(default=2000, ge=1, le=20_000, description="Longest answer, in characters.")


Question = Annotated[
    SingleQuestion | MultipleQuestion | LikertQuestion | PreferenceQuestion | TextQuestion,
    Field(discriminator="kind"),
]


class Choice(Wire):
    """One choice of a question, with further questions for annotators who take it."""

    value: ChoiceValue = Field(description="The value in answers and results; each only once in a question.")
    text: _Prompt = Field(description="What the annotator reads.")
    questions: tuple[Question, ...] = Field(default=(), max_length=20, description="Asked where this choice is taken.")


class Scale(Wire):
    """The whole numbers from `min` to `max`."""

    min: _ScalePoint
    max: _ScalePoint
    labels: dict[_ScalePointKey, _Prompt] = Field(
        default_factory=dict, max_length=MAX_SCALE_POINTS, description="What the annotator reads, by point."
    )


class Step(Wire):
    """Questions that are shown together. The next step is shown once they are answered."""

    id: Identifier
    title: _Title
    questions: Annotated[tuple[Question, ...], _at_least(1)] = Field(max_length=50, json_schema_extra={"minItems": 1})


class Behaviour(Wire):
    """Something that a turn, a side or a unit shows or does not show; answers to the questions say which.

    The choices of a question are made for annotators; a behaviour is what is counted (Finch, Finch and Choi 2023,
    Table 4).
    """

    id: Identifier = Field(description="The behaviour's name in results.")
    definition: Annotated[Text, StringConstraints(min_length=1, max_length=500)]
    shown_by: Annotated[tuple[When, ...], _at_least(1)] = Field(
        max_length=20,
        json_schema_extra={"minItems": 1},
        description="Choices of questions of the same `per`: it is shown where an annotator took one of them.",
    )
    desirable: bool = Field(default=True, description="False: bots that show it less often rank before others.")
    final: bool = Field(default=True, description="Whether the behaviour's authors kept it in their final set.")


class AnnotationProtocol(Wire):
    """The conversations that annotators see, and their questions. A version never changes."""

    format: Literal[1] = Field(description="Version of this form of documents.")
    name: Identifier
    version: int = Field(ge=1, lt=2**31)
    title: _Title
    source: Annotated[Text, StringConstraints(max_length=500)] = Field(
        default="", description="Where the questions come from: paper, section."
    )
    unit: Unit = Field(description="What one annotation is about.")
    reveal: Literal["whole", "exchange_by_exchange"] = Field(
        default="whole",
        description="Whether annotators see all turns at once, or open one exchange after another.",
    )
    question_order: Literal["fixed", "annotator"] = Field(
        default="fixed",
        description="Whether all annotators are asked the questions of a step in the document's order, or each in an"
        " order that is drawn once for the annotator. Follow-ups and conditions stay behind their question.",
    )
    steps: Annotated[tuple[Step, ...], _at_least(1)] = Field(max_length=10, json_schema_extra={"minItems": 1})
    behaviours: tuple[Behaviour, ...] = Field(
        default=(),
        max_length=50,
        description="What is counted instead of each choice; empty: each choice of a question is counted by itself.",
    )

    @property
    def opens_one_by_one(self) -> bool:
        """Return whether annotators open exchanges one by one."""
        return self.reveal == "exchange_by_exchange"


class ProtocolIn(Wire):
    """A protocol to store."""

    protocol: AnnotationProtocol


class ProtocolOut(Wire):
    """A protocol, built in or stored."""

    protocol: AnnotationProtocol
    built_in: bool
    created_at: datetime | None = Field(description="When it was stored; null where it is built in.")


class ProtocolSummaryOut(Wire):
    """A protocol without its questions."""

    name: str
    version: int
    title: str
    source: str
    built_in: bool
    created_at: datetime | None = Field(description="When it was stored; null where it is built in.")


@cache
def protocol_schema_text() -> str:
    """Return the JSON Schema of protocols, in draft 7, which editors support."""
    schema: dict[str, Any] = AnnotationProtocol.model_json_schema()
    return json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **schema}, indent=2, ensure_ascii=False)
