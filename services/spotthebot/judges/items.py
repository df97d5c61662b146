"""Labels one item: asks question after question as the protocol does, and makes the answer to submit."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spotthebot.annotation.assignments.domain.answers import shape_of
from spotthebot.annotation.protocols.domain.answers import asked_questions
from spotthebot.annotation.protocols.domain.questions import Target
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.assignments import AssignmentOut, ItemOut, JudgeItemIn
from spotthebot.contracts.annotation.judges import JudgeAnswer, JudgeLabels, MissingReason
from spotthebot.contracts.annotation.protocols import TextQuestion
from spotthebot.judges.opinions import Asked, Labeller, Opinion, Seen, Usage, answer_of, labels_of


@dataclass(frozen=True)
class Answered:
    """The answer to submit, what is stated about each question that was asked, and what it took."""

    answer: Answer
    stated: Sequence[tuple[Asked, JudgeAnswer | None]]
    usage: Usage


async def answer_item(labeller: Labeller, seen: Seen) -> Answered:
    """Ask a judge all questions about an item.

    A question that depends on an answer is asked after it, and not at all where the answer is missing. Free text is
    never asked for, and is missing where the protocol requires it.
    """
    answer: Answer = {}
    stated: dict[tuple[str, Target], tuple[Asked, JudgeAnswer | None]] = {}
    usage = Usage()
    while asked := [each for each in questions_of(seen, answer) if each.key not in stated]:
        texts = [each for each in asked if isinstance(each.question, TextQuestion)]
        stated |= {each.key: (each, _without_text(each)) for each in texts}
        asked = [each for each in asked if each not in texts]
        if not asked:
            continue
        opinions = await labeller.ask(seen, asked)
        usage += opinions.usage
        for each, opinion in zip(asked, opinions.each, strict=True):
            stated[each.key] = each, labels_of(each, opinion)
            if opinion.missing is None:
                _put(answer, each, opinion)
    return Answered(answer, list(stated.values()), usage)


def questions_of(seen: Seen, answer: Answer) -> list[Asked]:
    """Return the questions that are asked about an item, given an answer so far."""
    shape = shape_of("".join(turn.speaker for turn in seen.turns), is_pair=seen.right_turns is not None)
    return [Asked(found.question, found.target) for found in asked_questions(seen.protocol, shape, answer)]


async def label_item(labeller: Labeller, assignment: AssignmentOut, item: ItemOut) -> tuple[JudgeItemIn, Usage]:
    """Ask a judge all questions about an item, and return its labels to submit with what they took."""
    began = time.monotonic()
    seen = Seen(item.turns, item.right_turns, assignment.protocol, assignment.instructions)
    found = await answer_item(labeller, seen)
    labels = JudgeLabels(
        answers=tuple(stated for _, stated in found.stated if stated is not None),
        input_tokens=found.usage.input_tokens,
        output_tokens=found.usage.output_tokens,
        cost=found.usage.cost,
    )
    elapsed_ms = round(1000 * (time.monotonic() - began))
    return JudgeItemIn(position=item.position, answer=found.answer, labels=labels, elapsed_ms=elapsed_ms), found.usage


def _without_text(asked: Asked) -> JudgeAnswer | None:
    """Return what is stated about a free text: nothing where it is optional."""
    if not asked.question.required:
        return None
    return labels_of(asked, Opinion.lacking(MissingReason.UNSUITED, "Judges write no free text."))


def _put(answer: dict[str, Any], asked: Asked, opinion: Opinion) -> None:
    name, value = asked.question.id, answer_of(asked, opinion)
    if asked.target is None:
        answer[name] = value
    else:
        answer[name] = answer.get(name, {}) | {asked.target: value}
