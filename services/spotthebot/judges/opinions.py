"""A judge's opinions about an item: probabilities, or the reason why an answer is missing; and the answer they make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

from pydantic import JsonValue

from spotthebot.annotation.protocols.domain.questions import Target, Value, values_of
from spotthebot.contracts.annotation.annotations import Preference
from spotthebot.contracts.annotation.judges import JudgeAnswer, MissingReason
from spotthebot.contracts.annotation.protocols import (
    AnnotationProtocol,
    LikertQuestion,
    MultipleQuestion,
    PreferenceQuestion,
    Question,
)
from spotthebot.contracts.turns import Turn

Number = TypeVar("Number", int, float)
LONGEST_DETAIL: Final = 500
_TAKEN_FROM: Final = 0.5
_OTHER_SIDE: Final[Mapping[str, str]] = {"A": "B", "B": "A"}


@dataclass(frozen=True)
class Asked:
    """A question about one side, one turn or the whole item."""

    question: Question
    target: Target

    @property
    def key(self) -> tuple[str, Target]:
        return self.question.id, self.target

    @property
    def options(self) -> tuple[str, ...]:
        """The options as probabilities name them; empty for free text."""
        return tuple(str(value) for value in values_of(self.question) or ())

    @property
    def takes_several(self) -> bool:
        """Whether several options can be taken, so that the probabilities need not sum to 1."""
        return isinstance(self.question, MultipleQuestion)


@dataclass(frozen=True)
class Seen:
    """An item as a person sees it: the turns of one dialogue, or of two side by side, and the campaign's words."""

    turns: tuple[Turn, ...]
    right_turns: tuple[Turn, ...] | None
    protocol: AnnotationProtocol
    instructions: str

    @property
    def swapped(self) -> "Seen":
        """The same item with its sides in the other order."""
        if self.right_turns is not None:
            return Seen(self.right_turns, self.turns, self.protocol, self.instructions)
        turns = tuple(turn.model_copy(update={"speaker": _OTHER_SIDE[turn.speaker]}) for turn in self.turns)
        return Seen(turns, None, self.protocol, self.instructions)


@dataclass(frozen=True)
class Opinion:
    """The probability of each option, or the reason why there are none."""

    probabilities: Mapping[str, float] | None
    missing: MissingReason | None = None
    detail: str = ""

    @classmethod
    def lacking(cls, reason: MissingReason, detail: str) -> "Opinion":
        return cls(None, reason, detail[:LONGEST_DETAIL])


@dataclass(frozen=True)
class Usage:
    """The tokens of requests, their cost, and how many requests were answered from the cache. None is unknown."""

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost: float | None = 0.0
    paid: float | None = 0.0
    requests: int = 0
    cached: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cost, other.cost),
            _sum(self.paid, other.paid),
            self.requests + other.requests,
            self.cached + other.cached,
        )


@dataclass(frozen=True)
class Opinions:
    """The opinions about all asked questions, in their order, and what they took."""

    each: Sequence[Opinion]
    usage: Usage = field(default_factory=Usage)


class Labeller(Protocol):
    """Answers questions about items. It never learns who speaks."""

    async def ask(self, seen: Seen, asked: Sequence[Asked]) -> Opinions:
        """Return an opinion for each question that is asked about an item."""


def swapped(asked: Asked) -> Asked:
    """Return the question about the same side, where the sides stand in the other order."""
    return Asked(asked.question, _OTHER_SIDE.get(asked.target or "", asked.target))


def average(asked: Asked, one: Opinion, other: Opinion) -> Opinion:
    """Return the mean of two opinions, of which the other is about the item with its sides in the other order.

    It is missing if one of them is: half of the pair would have the bias of one order.
    """
    for each in (one, other):
        if each.probabilities is None:
            return each
    first, second = one.probabilities or {}, other.probabilities or {}
    is_preference = isinstance(asked.question, PreferenceQuestion)
    named = {name: _OTHER_SIDE.get(name, name) if is_preference else name for name in asked.options}
    return Opinion({name: (first[name] + second[named[name]]) / 2 for name in asked.options})


def depends_on_order(asked: Asked) -> bool:
    """Return whether a question is about sides, so that their order may matter."""
    return asked.question.per == "side" or isinstance(asked.question, PreferenceQuestion)


def answer_of(asked: Asked, opinion: Opinion) -> JsonValue:
    """Return the value of an answer: the most probable option, or each option of several that is as likely as not.

    Of equally probable options it is the first; of equally probable sides a tie.
    """
    shares = opinion.probabilities or {}
    values: Sequence[Value] = values_of(asked.question) or ()
    if asked.takes_several:
        return [value for value in values if shares[str(value)] >= _TAKEN_FROM]
    best = max(shares.values())
    found = [value for value in values if shares[str(value)] == best]
    if isinstance(asked.question, PreferenceQuestion) and {"A", "B"} <= set(found):
        return Preference.TIE.value
    return int(found[0]) if isinstance(asked.question, LikertQuestion) else found[0]


def labels_of(asked: Asked, opinion: Opinion) -> JudgeAnswer:
    """Return an opinion as it is submitted."""
    shares = None if opinion.probabilities is None else dict(opinion.probabilities)
    return JudgeAnswer(
        question=asked.question.id,
        target=asked.target,
        probabilities=shares,
        missing=opinion.missing,
        detail=opinion.detail,
    )


def _sum(one: Number | None, other: Number | None) -> Number | None:
    return None if one is None or other is None else one + other
