"""Documents of protocols, drawn at random or written in short, and answers to them."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from spotthebot.annotation.protocols.domain.answers import asked_questions
from spotthebot.annotation.protocols.domain.checks import check_protocol
from spotthebot.annotation.protocols.domain.questions import PAIR_SHAPE, UnitShape, values_of
from spotthebot.contracts.annotation.protocols import AnnotationProtocol, MultipleQuestion, Question, Side, TextQuestion

_STORABLE = "aB1 /~<\n\u0301\u4e2d\U0001f600"
TEXT = st.text(f"{_STORABLE}\0\ud800", max_size=8)
_BOOLEANS = st.booleans()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.sampled_from(["A", "v0", "tie"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def single(question: str, *values: str, **more: Any) -> dict[str, Any]:
    """Write a question with one choice of several; `follows` holds follow-ups by value."""
    follows = more.pop("follows", {})
    choices = [{"value": value, "text": value, "questions": follows.get(value, [])} for value in values]
    return {"id": question, "kind": "single", "text": question, "choices": choices, **more}


def document(*steps: list[dict[str, Any]], unit: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Write a protocol whose steps are `step_0`, `step_1`, ..., over segments unless another unit is given."""
    return {
        "format": 1,
        "name": "example",
        "version": 1,
        "title": "An example",
        "unit": unit or {"kind": "segment"},
        "steps": [{"id": f"step_{n}", "title": "A step", "questions": questions} for n, questions in enumerate(steps)],
        **more,
    }


def protocol(*steps: list[dict[str, Any]], **more: Any) -> AnnotationProtocol:
    """Return a protocol that has no fault."""
    read = AnnotationProtocol.model_validate(document(*steps, **more))
    assert check_protocol(read) == ()
    return read


@st.composite
def protocols(draw: st.DrawFn, *, kinds: tuple[str, ...] = (), max_questions: int = 8) -> AnnotationProtocol:
    """Draw a protocol without faults, but for questions that no answer may lead to."""
    whole = [{"kind": kind} for kind in ("segment", "dialogue", "pair")]
    unit = draw(st.sampled_from([*whole, *({"kind": "turns", "speaker": each} for each in ("A", "B", "both"))]))
    pers = {"pair": ["unit"], "turns": ["unit", "side", "turn"]}.get(unit["kind"], ["unit", "side"])
    chosen = kinds or ("single", "multiple", "likert", "preference", "text")
    drawn = _DrawnQuestions(draw, chosen, pers, draw(st.integers(1, max_questions)))
    steps: list[list[dict[str, Any]]] = [[drawn.question(None, 1)]]
    while drawn.left > 0:
        if len(steps) < 9 and draw(st.booleans()):
            steps.append([])
        steps[-1].append(drawn.question(None, 1))
    return AnnotationProtocol.model_validate(document(*steps, unit=unit))


class _DrawnQuestions:
    """Draws questions in the order of the document, so that conditions name earlier ones."""

    def __init__(self, draw: st.DrawFn, kinds: Sequence[str], pers: Sequence[str], left: int) -> None:
        self._draw, self._kinds, self._pers = draw, kinds, pers
        self.left = left
        self._earlier: list[tuple[str, str, list[Any]]] = []
        """The id, the `per` and the values of each question so far."""

    def question(self, parent: str | None, level: int) -> dict[str, Any]:
        """Draw a question and its follow-ups; a follow-up has its parent's `per` unless that is the unit."""
        self.left -= 1
        draw = self._draw
        per = parent if parent not in {None, "unit"} else draw(st.sampled_from(self._pers))
        kind = draw(st.sampled_from(self._kinds))
        kind = "single" if kind == "preference" and per != "unit" else kind
        question: dict[str, Any] = {"id": f"q{len(self._earlier)}", "kind": kind, "text": "?", "per": per}
        question["required"] = draw(_BOOLEANS)
        named = [each for each in self._earlier if each[1] in {"unit", per} and each[2]]
        conditional = draw(_BOOLEANS)
        if named and conditional:
            name, _, possible = draw(st.sampled_from(named))
            any_of = draw(st.lists(st.sampled_from(possible), min_size=1, max_size=2, unique=True))
            question["when"] = {"question": name, "any_of": any_of}
        values = self._values(question)
        self._earlier.append((question["id"], str(per), values))
        if kind in {"single", "multiple"}:
            question["choices"] = [
                {"value": value, "text": value, "questions": self._follow_ups(str(per), level)} for value in values
            ]
        return question

    def _values(self, question: dict[str, Any]) -> list[Any]:
        match question["kind"]:
            case "likert":
                low = self._draw(st.integers(-2, 1))
                question["scale"] = {"min": low, "max": low + self._draw(st.integers(1, 4))}
                return [*range(low, question["scale"]["max"] + 1)]
            case "text":
                question["max_length"] = self._draw(st.integers(1, 30))
                return []
            case "preference":
                return ["A", "B", "tie"]
        return [f"v{number}" for number in range(self._draw(st.integers(2, 3)))]

    def _follow_ups(self, parent: str, level: int) -> list[dict[str, Any]]:
        nested: list[dict[str, Any]] = []
        while level < 4 and self.left > 0 and len(nested) < 3 and self._draw(_BOOLEANS):
            nested.append(self.question(parent, level + 1))
        return nested


@st.composite
def shapes(draw: st.DrawFn, of: AnnotationProtocol) -> UnitShape:
    """Draw a shape that the protocol's unit can have."""
    if of.unit.kind == "pair":
        return PAIR_SHAPE
    sides: Sequence[tuple[Side, ...]] = [("A", "B"), ("A",), ("B",)]
    speakers: Sequence[Side] = ["A", "B"]
    drawn = draw(st.lists(st.sampled_from(speakers), max_size=5))
    return UnitShape(sides=draw(st.sampled_from(sides)), speakers=tuple(drawn))


@st.composite
def answers(draw: st.DrawFn, to: AnnotationProtocol, shape: UnitShape, *, complete: bool = False) -> dict[str, Any]:
    """Draw an answer that follows the protocol, with some questions left out unless it is to be complete."""
    answer: dict[str, Any] = {}
    skipped: set[tuple[str, str | None]] = set()
    while True:
        unanswered = [
            asked
            for asked in asked_questions(to, shape, answer)
            if (asked.question.id, asked.target) not in skipped
            and (asked.question.id not in answer or asked.question.per != "unit")
            and not (asked.question.per != "unit" and str(asked.target) in answer.get(asked.question.id, {}))
        ]
        if not unanswered:
            return answer
        asked = unanswered[0]
        if not complete and draw(st.integers(0, 3)) == 0:
            skipped.add((asked.question.id, asked.target))
            continue
        value = draw(answer_values(asked.question))
        if asked.target is None:
            answer[asked.question.id] = value
        else:
            answer.setdefault(asked.question.id, {})[asked.target] = value


def answer_values(question: Question) -> st.SearchStrategy[Any]:
    """Return the values that one question's answer may have."""
    if isinstance(question, TextQuestion):
        return st.text(_STORABLE, min_size=1, max_size=question.max_length).filter(lambda text: text.strip() != "")
    among = st.sampled_from(values_of(question) or ())
    return st.lists(among, unique=True, max_size=3) if isinstance(question, MultipleQuestion) else among
