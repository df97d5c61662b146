"""Protocols of annotation: documents that say what annotators see and what they are asked.

The models say which fields there are and how much they hold; what one part demands of another, such as a condition
that names an earlier question, is checked by the service `annotation`.
"""

import json
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, StrictInt, StringConstraints

from spotthebot.contracts.annotation.annotations import Preference
from spotthebot.contracts.wire import Text, Wire

MAX_QUESTIONS: Final = 200
"""Questions of a protocol, follow-ups included."""
MAX_NESTING: Final = 5
"""Levels of questions: a question, its follow-ups, theirs, and so on."""
MAX_SCALE_POINTS: Final = 21


def _at_least(count: int) -> AfterValidator:
    """Count items once all are valid: pydantic counts the valid ones, and so adds a second fault to the first."""

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
    """The first exchanges of a conversation; the campaign says how many."""

    kind: Literal["segment"]


class DialogueUnit(Wire):
    """A whole conversation."""

    kind: Literal["dialogue"]


class TurnsUnit(Wire):
    """A whole conversation, of which the turns of one speaker or of both are annotated one by one."""

    kind: Literal["turns"]
    speaker: Literal["A", "B", "both"] = Field(description="Whose turns are annotated.")


class PairUnit(Wire):
    """Two conversations side by side: A on the left, B on the right."""

    kind: Literal["pair"]


Unit = Annotated[SegmentUnit | DialogueUnit | TurnsUnit | PairUnit, Field(discriminator="kind")]


class When(Wire):
    """A condition: an earlier question has one of these values, for the same side or turn."""

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
    """One of several choices."""

    kind: Literal["single"]
    choices: Annotated[tuple["Choice", ...], _at_least(2)] = Field(max_length=50, json_schema_extra={"minItems": 2})


class MultipleQuestion(_Question):
    """Any number of the choices, none of them too."""

    kind: Literal["multiple"]
    choices: Annotated[tuple["Choice", ...], _at_least(1)] = Field(max_length=50, json_schema_extra={"minItems": 1})


class LikertQuestion(_Question):
    """A point on a scale."""

    kind: Literal["likert"]
    scale: "Scale"


class PreferenceQuestion(_Question):
    """Side A, side B, or no difference (`tie`); of a pair: the conversation on the left, or on the right."""

    kind: Literal["preference"]
    labels: dict[Preference, _Prompt] = Field(
        default_factory=dict, max_length=3, description="What the annotator reads for A, B and tie."
    )


class TextQuestion(_Question):
    """Free text."""

    kind: Literal["text"]
    max_length: int = Field(default=2000, ge=1, le=20_000, description="Longest answer, in characters.")


Question = Annotated[
    SingleQuestion | MultipleQuestion | LikertQuestion | PreferenceQuestion | TextQuestion,
    Field(discriminator="kind"),
]


class Choice(Wire):
    """One choice of a question, with the questions that follow where it is taken."""

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
    """Questions that are shown together; the next step is shown when this one is answered."""

    id: Identifier
    title: _Title
    questions: Annotated[tuple[Question, ...], _at_least(1)] = Field(max_length=50, json_schema_extra={"minItems": 1})


class AnnotationProtocol(Wire):
    """What annotators see, and what they are asked, in which order; a version never changes."""

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
    steps: Annotated[tuple[Step, ...], _at_least(1)] = Field(max_length=10, json_schema_extra={"minItems": 1})


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
    """Return the JSON Schema of protocols: draft 7, which editors' support is made for."""
    schema: dict[str, Any] = AnnotationProtocol.model_json_schema()
    return json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **schema}, indent=2, ensure_ascii=False)
