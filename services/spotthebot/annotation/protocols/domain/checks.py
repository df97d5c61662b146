"""Rules between the parts of a protocol; `check_protocol` finds every fault of a document."""

from collections.abc import Iterator

from spotthebot.annotation.protocols.domain.questions import Condition, PlacedQuestion, questions_of, values_of
from spotthebot.contracts.annotation.protocols import (
    MAX_NESTING,
    MAX_QUESTIONS,
    MAX_SCALE_POINTS,
    AnnotationProtocol,
    LikertQuestion,
    MultipleQuestion,
    PreferenceQuestion,
    Scale,
    SingleQuestion,
    When,
)
from spotthebot.kit.errors import FieldError


def check_protocol(protocol: AnnotationProtocol, *, at: str = "") -> tuple[FieldError, ...]:
    """Return the faults of a document, by JSON pointers that begin with `at`; empty if the document is valid."""
    placed = tuple(questions_of(protocol))
    faults = [*_steps(protocol), *_sizes(placed), *_reveal(protocol), *_questions(protocol, placed)]
    faults += _behaviours(protocol, placed)
    if not faults:  # reachability is meaningless in a document with other faults
        faults = [*_reachability(placed)]
    return tuple(FieldError(f"{at}{fault.pointer}", fault.detail) for fault in faults)


def _steps(protocol: AnnotationProtocol) -> Iterator[FieldError]:
    seen: set[str] = set()
    for number, step in enumerate(protocol.steps):
        if step.id in seen:
            yield FieldError(f"/steps/{number}/id", f"Another step has the id '{step.id}'.")
        seen.add(step.id)


def _sizes(placed: tuple[PlacedQuestion, ...]) -> Iterator[FieldError]:
    if len(placed) > MAX_QUESTIONS:
        yield FieldError("/steps", f"There are {len(placed)} questions: a protocol may have {MAX_QUESTIONS} at most.")
    for each in placed:
        if len(each.parents) == MAX_NESTING:
            yield FieldError(each.pointer, f"Questions may be nested {MAX_NESTING} levels deep at most.")


def _reveal(protocol: AnnotationProtocol) -> Iterator[FieldError]:
    if protocol.reveal == "exchange_by_exchange" and protocol.unit.kind not in {"segment", "dialogue"}:
        yield FieldError("/reveal", "Reveal exchange by exchange only with the unit segment or dialogue.")


def _questions(protocol: AnnotationProtocol, placed: tuple[PlacedQuestion, ...]) -> Iterator[FieldError]:
    earlier: dict[str, PlacedQuestion] = {}
    ids = {each.question.id for each in placed}
    for each in placed:
        question = each.question
        if question.id in earlier:
            yield FieldError(f"{each.pointer}/id", f"Another question has the id '{question.id}'.")
        yield from _per(protocol, each)
        if isinstance(question, SingleQuestion | MultipleQuestion):
            yield from _choices(each.pointer, question)
        if isinstance(question, LikertQuestion):
            yield from _scale(f"{each.pointer}/scale", question.scale)
        if question.when is not None:
            yield from _condition(each, question.when, earlier, ids)
        earlier.setdefault(question.id, each)


def _per(protocol: AnnotationProtocol, placed: PlacedQuestion) -> Iterator[FieldError]:
    question, pointer = placed.question, f"{placed.pointer}/per"
    if question.per == "turn" and protocol.unit.kind != "turns":
        yield FieldError(pointer, f"Only the unit turns is asked about per turn, and this is a {protocol.unit.kind}.")
    if question.per == "side" and protocol.unit.kind == "pair":
        yield FieldError(pointer, "A pair has no sides: ask per unit.")
    if question.per != "unit" and isinstance(question, PreferenceQuestion):
        yield FieldError(pointer, "A preference compares the sides: ask per unit.")
    if placed.parents and placed.parents[-1].per not in {"unit", question.per}:
        parent = placed.parents[-1]
        detail = f"Ask this per {parent.per} as well: its parent '{parent.id}' is asked per {parent.per}."
        yield FieldError(pointer, detail)


def _choices(pointer: str, question: SingleQuestion | MultipleQuestion) -> Iterator[FieldError]:
    seen: set[str] = set()
    for number, choice in enumerate(question.choices):
        if choice.value in seen:
            where = f"{pointer}/choices/{number}/value"
            yield FieldError(where, f"Another choice of this question has the value '{choice.value}'.")
        seen.add(choice.value)


def _scale(pointer: str, scale: Scale) -> Iterator[FieldError]:
    if not scale.min < scale.max:
        yield FieldError(f"{pointer}/max", f"The max must be above the min, {scale.min}.")
    elif scale.max - scale.min >= MAX_SCALE_POINTS:
        points = scale.max - scale.min + 1
        yield FieldError(f"{pointer}/max", f"The scale has {points} points: it may have {MAX_SCALE_POINTS} at most.")
    for point in scale.labels:
        if not scale.min <= int(point) <= scale.max:
            yield FieldError(f"{pointer}/labels/{point}", f"The scale goes from {scale.min} to {scale.max}.")


def _condition(
    placed: PlacedQuestion, when: When, earlier: dict[str, PlacedQuestion], ids: set[str]
) -> Iterator[FieldError]:
    pointer = f"{placed.pointer}/when"
    if when.question not in earlier:
        place = "comes later, or is this one" if when.question in ids else "is not in this protocol"
        yield FieldError(f"{pointer}/question", f"The question '{when.question}' {place}: name an earlier one.")
        return
    named = earlier[when.question].question
    if named.per not in {"unit", placed.question.per}:
        detail = f"'{named.id}' is asked per {named.per}, this one per {placed.question.per}: it does not say which."
        yield FieldError(f"{pointer}/question", detail)
    values = values_of(named)
    if values is None:
        yield FieldError(f"{pointer}/question", f"'{named.id}' is answered with free text: no condition can name it.")
        return
    for number, value in enumerate(when.any_of):
        if value not in values:
            yield FieldError(f"{pointer}/any_of/{number}", f"'{named.id}' has no value {value!r}.")


def _behaviours(protocol: AnnotationProtocol, placed: tuple[PlacedQuestion, ...]) -> Iterator[FieldError]:
    asked = {each.question.id: each.question for each in placed}
    if protocol.behaviours and protocol.unit.kind == "pair":
        yield FieldError("/behaviours", "A pair has no behaviours: choices about a pair are of neither dialogue alone.")
    seen: set[str] = set()
    for number, behaviour in enumerate(protocol.behaviours):
        pointer = f"/behaviours/{number}"
        if behaviour.id in seen:
            yield FieldError(f"{pointer}/id", f"Another behaviour has the id '{behaviour.id}'.")
        elif behaviour.id in asked and not isinstance(asked[behaviour.id], SingleQuestion | MultipleQuestion):
            yield FieldError(f"{pointer}/id", f"The question '{behaviour.id}' has a measure of this name: rename one.")
        seen.add(behaviour.id)
        kinds: set[str] = set()
        for place, shown in enumerate(behaviour.shown_by):
            question = asked.get(shown.question)
            if not isinstance(question, SingleQuestion | MultipleQuestion):
                detail = f"'{shown.question}' is no question with choices in this protocol."
                yield FieldError(f"{pointer}/shown_by/{place}/question", detail)
                continue
            values = {choice.value for choice in question.choices}
            for at, value in enumerate(shown.any_of):
                if value not in values:
                    detail = f"'{question.id}' has no choice {value!r}."
                    yield FieldError(f"{pointer}/shown_by/{place}/any_of/{at}", detail)
            kinds.add(question.per)
        if len(kinds) > 1:
            yield FieldError(f"{pointer}/shown_by", "Name questions of one `per`: these are asked of different things.")


def _reachability(placed: tuple[PlacedQuestion, ...]) -> Iterator[FieldError]:
    """Yield a fault for each question that no answer leads to.

    A question is asked if its conditions hold, and if the questions that its conditions name are asked. Together these
    conditions require for each named question a set of values. Questions are answered independently, so an answer can
    meet all conditions unless a single-choice question would need two values. A multiple question can have several
    values.
    """
    by_id = {each.question.id: each for each in placed}
    for each in placed:
        allowed: dict[str, frozenset[str | int]] = {}
        for condition in _required(each, by_id):
            others = allowed.get(condition.question, condition.values)
            allowed[condition.question] = others & condition.values
        for name, values in allowed.items():
            if not values and not isinstance(by_id[name].question, MultipleQuestion):
                detail = f"No answer leads here: '{name}' would need two values at once."
                yield FieldError(each.pointer, detail)
                break


def _required(placed: PlacedQuestion, by_id: dict[str, PlacedQuestion]) -> frozenset[Condition]:
    """Return all conditions that must hold before a question is asked.

    These are its own conditions, those of the questions that its conditions refer to, and so on.
    """
    found: set[Condition] = set()
    unseen = [*placed.conditions]
    while unseen:
        condition = unseen.pop()
        if condition not in found:
            found.add(condition)
            unseen += by_id[condition.question].conditions
    return frozenset(found)
