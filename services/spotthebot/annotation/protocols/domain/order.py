"""The order in which an annotator is asked the questions of a protocol."""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

from spotthebot.contracts.annotation.protocols import AnnotationProtocol, MultipleQuestion, Question, SingleQuestion

T = TypeVar("T")


class Draw(Protocol):
    """A random permutation of things; the same purpose and number of things give the same one."""

    def __call__(self, purpose: str, things: Sequence[T], /) -> list[T]: ...


def in_drawn_order(protocol: AnnotationProtocol, draw: Draw) -> AnnotationProtocol:
    """Return a protocol with the questions of each step in an order that `draw` decides.

    Follow-ups stay in the choice that they follow. A question with a condition on another question of its step comes
    behind this question, with nothing between them but questions with such conditions.
    """
    steps = [step.model_copy(update={"questions": _drawn(step.questions, step.id, draw)}) for step in protocol.steps]
    return protocol.model_copy(update={"steps": tuple(steps)})


def drawn_order(protocol: AnnotationProtocol) -> tuple[str, ...]:
    """Return the ids of all questions in order, follow-ups behind their question; empty unless the order is drawn."""
    if protocol.question_order == "fixed":
        return ()
    return tuple(each.id for step in protocol.steps for question in step.questions for each in _tree(question))


def _drawn(questions: Sequence[Question], step: str, draw: Draw) -> tuple[Question, ...]:
    return tuple(questions[number] for group in draw(step, _groups(questions)) for number in group)


def _groups(questions: Sequence[Question]) -> list[list[int]]:
    """Return the indices of questions in groups, in order: conditions lead from a question only into its group."""
    groups: list[list[int]] = []
    group_of: dict[str, list[int]] = {}
    for number, question in enumerate(questions):
        tree = [*_tree(question)]
        named = [group_of[each.when.question] for each in tree if each.when and each.when.question in group_of]
        joined = [each for each in groups if any(each is other for other in named)]
        group = sorted([number, *(member for each in joined for member in each)])
        groups = [*(each for each in groups if each not in joined), group]
        group_of |= {each.id: group for member in group for each in _tree(questions[member])}
    return groups


def _tree(question: Question) -> Iterator[Question]:
    """Yield a question and its follow-ups, depth first."""
    yield question
    if isinstance(question, SingleQuestion | MultipleQuestion):
        for choice in question.choices:
            for follow_up in choice.questions:
                yield from _tree(follow_up)
