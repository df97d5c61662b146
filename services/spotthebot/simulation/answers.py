"""Answers of simulated annotators by any protocol. A seeded rule answers; it ignores the meaning of a question.

The rule computes a place between 0 and 1 for a side or a turn. The place is made from the score of
`annotator.scores_of`, the annotator's leniency and noise, and the annotator's random taste for each question.

- A scale gets the point at the place.
- A question with one choice gets the choice at the place, as if the choices were ordered from bad to good.
- A question with several choices has a place for each choice, and each choice with a high place is taken.
- A preference goes to the side with the higher place.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from spotthebot.bots.builtin_bots.domain.chance import chance_of
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.measures import LABELS
from spotthebot.contracts.annotation.protocols import (
    AnnotationProtocol,
    LikertQuestion,
    MultipleQuestion,
    PreferenceQuestion,
    Question,
    SingleQuestion,
    TextQuestion,
    TurnsUnit,
)
from spotthebot.contracts.turns import Turn
from spotthebot.simulation.annotator import (
    BOT_BELOW,
    HUMAN_FROM,
    SimulatedAnnotator,
    merit_of,
    scores_of,
    seconds_for,
)
from spotthebot.simulation.impressions import SPEAKERS, Segment, impressions

_Target = str | None
_MIDDLE: Final = (HUMAN_FROM + BOT_BELOW) / 2
_SPREAD: Final = 0.6
"""The distance of a score from the middle at which the place is .73 or .27; chosen by hand."""
_TASTE: Final = 0.3
"""The standard deviation of an annotator's taste for a question."""
_TAKEN_FROM: Final = 0.6
"""The lowest place at which a choice of several is taken."""
_LEAD: Final = 0.1
"""The smallest difference of two places at which one side is preferred."""
_SEEN_WITH: Final = 3
"""The number of earlier turns that the score of a turn includes."""
_TEXT: Final = "simulated"


@dataclass(frozen=True)
class ShownItem:
    """The turns of an item.

    For a pair of dialogues, `turns` are the left dialogue's and `right_turns` the right dialogue's.
    """

    turns: Sequence[Turn]
    right_turns: Sequence[Turn] | None

    @property
    def segment(self) -> Segment:
        """The turns of the left dialogue, or of the only dialogue, as a segment."""
        return _segment(self.turns)


def answer_steps(
    annotator: SimulatedAnnotator, protocol: AnnotationProtocol, item: ShownItem, saved: Answer, *, step: int = 1
) -> Iterator[tuple[Answer, int]]:
    """Yield the answer after each step of a protocol, from step `step` on, with the simulated milliseconds.

    Each answer contains the answers to all steps so far. Earlier steps keep their `saved` answers. An answer depends
    only on the annotator's seed and name, the question and the texts. Whether a question is asked depends on earlier
    answers.
    """
    chance = chance_of(annotator.seed, annotator.name, protocol.name, item.segment)
    scores = _Scores(annotator, protocol, item, careful=chance.random() < annotator.reliability)
    answer: dict[str, Any] = dict(saved)
    elapsed = round(1000 * seconds_for(item.segment, chance))
    for each in protocol.steps[step - 1 :]:
        _answer_questions(each.questions, scores, answer, None)
        yield dict(answer), elapsed


def _answer_questions(
    questions: Sequence[Question], scores: "_Scores", answer: dict[str, Any], only: frozenset[_Target] | None
) -> None:
    """Answer the questions that are asked.

    With `only`, the questions are follow-ups of a choice, and are asked only about the targets that got this choice.
    """
    for question in questions:
        targets = [each for each in scores.targets(question) if only is None or each in only or None in only]
        given = {each: scores.value(question, each) for each in targets if _is_asked(question, each, answer)}
        given = {target: value for target, value in given.items() if value is not None}
        if not given:
            continue
        answer[question.id] = given[None] if question.per == "unit" else dict(given)
        if isinstance(question, SingleQuestion | MultipleQuestion):
            for choice in question.choices:
                taken = frozenset(target for target, value in given.items() if _has(value, choice.value))
                if taken:
                    _answer_questions(choice.questions, scores, answer, taken)


def _is_asked(question: Question, target: _Target, answer: Mapping[str, Any]) -> bool:
    when = question.when
    if when is None:
        return True
    given = answer.get(when.question)
    value = given.get(target) if isinstance(given, Mapping) else given
    return any(_has(value, each) for each in when.any_of)


def _has(value: object, choice: object) -> bool:
    return choice in value if isinstance(value, list) else value == choice


@dataclass
class _Scores:
    """The places between 0 and 1 from which one annotator answers the questions about one item."""

    annotator: SimulatedAnnotator
    protocol: AnnotationProtocol
    item: ShownItem
    careful: bool
    _merits: dict[_Target, float] = field(default_factory=dict)

    def targets(self, question: Question) -> list[_Target]:
        """Return the targets of a question: sides, positions of turns, or None for the whole item."""
        if question.per == "unit":
            return [None]
        if question.per == "side":
            return list(SPEAKERS)
        unit = self.protocol.unit
        who = unit.speaker if isinstance(unit, TurnsUnit) else "both"
        return [str(at) for at, turn in enumerate(self.item.turns) if who in {"both", turn.speaker}]

    def value(self, question: Question, target: _Target) -> object:
        """Return the answer to a question about a target; None for an optional text."""
        if isinstance(question, LikertQuestion):
            low, high = question.scale.min, question.scale.max
            return low + round(self._place(question.id, target) * (high - low))
        if isinstance(question, SingleQuestion):
            values = _from_bad_to_good([each.value for each in question.choices])
            return values[self._number(question.id, target, len(values))]
        if isinstance(question, MultipleQuestion):
            places = {each.value: self._place(f"{question.id}:{each.value}", target) for each in question.choices}
            return [value for value, place in places.items() if place >= _TAKEN_FROM]
        if isinstance(question, PreferenceQuestion):
            lead = self._place(question.id, "A") - self._place(question.id, "B")
            return "tie" if abs(lead) < _LEAD else "A" if lead > 0 else "B"
        assert isinstance(question, TextQuestion)  # noqa: S101 - tells the type checker that there is no other kind
        return _TEXT if question.required else None

    def _number(self, question: str, target: _Target, of: int) -> int:
        return min(int(self._place(question, target) * of), of - 1)

    def _place(self, question: str, target: _Target) -> float:
        who = self.annotator
        chance = chance_of(who.seed, who.name, question, str(target), self.item.segment)
        if not self.careful:
            return chance.random()
        taste = chance_of("taste", who.seed, who.name, question).gauss(0, _TASTE)
        seen = self._merit(target) + who.leniency + taste + chance.gauss(0, who.noise)
        return 1 / (1 + math.exp((_MIDDLE - seen) / _SPREAD))

    def _merit(self, target: _Target) -> float:
        if target not in self._merits:
            self._merits[target] = self._found(target)
        return self._merits[target]

    def _found(self, target: _Target) -> float:
        language, turns, right = self.annotator.language, self.item.turns, self.item.right_turns
        if target in SPEAKERS and right is None:
            return scores_of(impressions(_segment(turns), language))[target]
        if target is None or target in SPEAKERS:
            shown = turns if right is None or target != "B" else right
            return sum(scores_of(impressions(_segment(shown), language)).values()) / len(SPEAKERS)
        at = int(target)
        seen = impressions(_segment(turns[max(0, at - _SEEN_WITH) : at + 1]), language)
        return merit_of(seen[turns[at].speaker])


def _from_bad_to_good(choices: list[str]) -> list[str]:
    """Return the labels of a speaker in the order bot, unsure, human. Other choices keep the protocol's order."""
    return sorted(choices, key=LABELS.__getitem__) if set(choices) == set(LABELS) else choices


def _segment(turns: Sequence[Turn]) -> Segment:
    return tuple((turn.speaker, turn.text) for turn in turns)
