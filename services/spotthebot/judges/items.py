"""Labels one item: asks question after question as the protocol does, and makes the answer to submit."""

import time
from typing import Any

from spotthebot.annotation.assignments.domain.answers import shape_of
from spotthebot.annotation.protocols.domain.answers import asked_questions
from spotthebot.annotation.protocols.domain.questions import Target
from spotthebot.contracts.annotation.assignments import AssignmentOut, ItemOut, JudgeItemIn
from spotthebot.contracts.annotation.judges import JudgeAnswer, JudgeLabels, MissingReason
from spotthebot.contracts.annotation.protocols import TextQuestion
from spotthebot.judges.opinions import Asked, Labeller, Opinion, Seen, Usage, answer_of, labels_of


async def label_item(labeller: Labeller, assignment: AssignmentOut, item: ItemOut) -> tuple[JudgeItemIn, Usage]:
    """Ask a judge all questions about an item, and return its labels to submit with what they took.

    A question that depends on an answer is asked after it, and not at all where the answer is missing. Free text is
    never asked for, and is missing where the protocol requires it.
    """
    seen = Seen(item.turns, item.right_turns, assignment.protocol, assignment.instructions)
    shape = shape_of("".join(turn.speaker for turn in item.turns), is_pair=item.right_turns is not None)
    began = time.monotonic()
    answer: dict[str, Any] = {}
    stated: dict[tuple[str, Target], JudgeAnswer | None] = {}
    usage = Usage()
    while asked := [
        each
        for found in asked_questions(assignment.protocol, shape, answer)
        if (each := Asked(found.question, found.target)).key not in stated
    ]:
        texts = [each for each in asked if isinstance(each.question, TextQuestion)]
        stated |= {each.key: _without_text(each) for each in texts}
        asked = [each for each in asked if each not in texts]
        if not asked:
            continue
        opinions = await labeller.ask(seen, asked)
        usage += opinions.usage
        for each, opinion in zip(asked, opinions.each, strict=True):
            stated[each.key] = labels_of(each, opinion)
            if opinion.missing is None:
                _put(answer, each, opinion)
    labels = JudgeLabels(
        answers=tuple(each for each in stated.values() if each is not None),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=usage.cost,
    )
    elapsed_ms = round(1000 * (time.monotonic() - began))
    return JudgeItemIn(position=item.position, answer=answer, labels=labels, elapsed_ms=elapsed_ms), usage


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
