"""Protocols from the task schemas of ABC-Eval (Finch, Finch and Choi 2023): its file `annotation_buckets.json`.

In ABC-Eval's dialogues the person begins, so the evaluated bot is speaker B here. `SPEAKER_X` in its texts is Speaker
B, `SPEAKER_Y` is Speaker A, and its odd turns are the turns of B. A checkbox is a question with any number of choices;
no ticked box is an answer. Texts are copied from the file; names and values are made from the texts. ABC-Eval's pages
show help next to some tasks, which the file does not have.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from spotthebot.annotation.protocols.domain.checks import check_protocol
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.importers.abc_eval.errors import TaskNotConvertible
from spotthebot.kit.text.validation import faults_of

_SOURCE = "ABC-Eval, Finch, Finch and Choi 2023: annotation_buckets.json"
_LONGEST_NAME = 50
_TREES = {"button_flow", "nondetails_button_flow", "nondetails_nonhelp_button_flow"}
_POINTS_OF_FIVE = {"min": 1, "max": 5}
_OF_PROFILES = {"use_profile", "cont_profile"}
_CONVERSATIONS = {"A": "left", "B": "right", "tie": "no difference"}


@dataclass(frozen=True)
class Conversion:
    """The result of converting one task: a protocol, or the reason why it can't be converted."""

    task: str
    protocol: AnnotationProtocol | None
    reason: str


def convert_tasks(buckets: Mapping[str, Any]) -> tuple[Conversion, ...]:
    """Convert the tasks of the file in order; raises TaskNotConvertible if the file holds no tasks."""
    tasks = buckets.get("config")
    if not isinstance(tasks, Mapping):
        raise TaskNotConvertible(reason="the file has no object 'config' of tasks")
    return tuple(_convert(str(name), task) for name, task in tasks.items())


def shown_text(text: str) -> str:
    """Return a text of ABC-Eval with the names Speaker A and Speaker B."""
    return text.replace("SPEAKER_X", "Speaker B").replace("SPEAKER_Y", "Speaker A")


def _convert(name: str, task: object) -> Conversion:
    try:
        return Conversion(name, _protocol(name, task), "")
    except TaskNotConvertible as error:
        return Conversion(name, None, str(error.facts["reason"]))
    except ValidationError as error:
        return Conversion(name, None, f"no protocol can say it: {faults_of(error, separator='.')[0]}")


def _protocol(name: str, task: object) -> AnnotationProtocol:
    unit = _unit(_object(task))
    protocol = AnnotationProtocol.model_validate(
        {
            "format": 1,
            "name": f"abc_eval_{name}",
            "version": 1,
            "title": f"ABC-Eval: {name.replace('_', ' ')}",
            "source": _SOURCE,
            "unit": unit,
            "steps": [{"id": "task", "title": "Annotate", "questions": [*_questions(_object(task), _Names(unit))]}],
        }
    )
    for fault in check_protocol(protocol):
        raise TaskNotConvertible(reason=f"no protocol can say it: {fault.pointer}: {fault.detail}")
    return protocol


def _unit(task: Mapping[str, Any]) -> dict[str, str]:
    match task.get("indices"), task.get("config"):
        case "no_indices", "comparative":
            return {"kind": "pair"}
        case "no_indices", _:
            return {"kind": "dialogue"}
        case "odd", _:
            return {"kind": "turns", "speaker": "B"}
    raise TaskNotConvertible(reason=f"its indices are {task.get('indices')!r}: known are 'odd' and 'no_indices'")


@dataclass
class _Names:
    """Makes unique names of questions from their texts, and has the settings that all questions of a task share."""

    unit: Mapping[str, str]
    used: set[str] = field(default_factory=set)

    def question(self, text: str, kind: str, name: str | None = None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        per = "turn" if self.unit["kind"] == "turns" else "unit"
        return {"id": _unused(name or text, self.used), "kind": kind, "text": shown_text(text), "per": per, **more}


def _questions(task: Mapping[str, Any], names: _Names) -> Iterator[dict[str, Any]]:
    config, options, required = task.get("config"), task.get("options"), "require" in task
    if config in _TREES and isinstance(options, Mapping):
        yield from _tree(options, names, required=required)
    elif config == "multiselect" and isinstance(options, list):
        yield _multiselect(_text(task, "question"), options, names)
    elif config in {"foreach-5-select", "foreach-5-select-dialogue"} and isinstance(options, list):
        for option in options:
            label = _text(option, "label")
            text = f"{_text(task, 'question')} {label}"
            yield names.question(text, "likert", label, scale=_POINTS_OF_FIVE, required=required)
    elif config in {"likert-5-dialogue", "likert-5-turn"} and isinstance(options, list):
        scale = _POINTS_OF_FIVE | {"labels": task.get("label_details", {})}
        for option in options:
            text, label = _text(option, "question"), _text(option, "label")
            yield names.question(text, "likert", label, scale=scale, required=required)
    elif config == "comparative" and isinstance(options, list) and len(options) == len(_CONVERSATIONS):
        yield names.question(_text(task, "question"), "preference", "preference", labels=_labels(options))
    else:
        raise TaskNotConvertible(reason=f"its config is {config!r} with options of {type(options).__name__}: unknown")


def _tree(options: Mapping[str, Any], names: _Names, *, required: bool) -> Iterator[dict[str, Any]]:
    """Yield the questions of a tree, `{question: {choice: {question: ...}}}`.

    The key `_type_` says whether a question takes one or several choices.
    """
    for text, choices in options.items():
        kinds = [*_object(_object(choices).get("_type_", {"radio": {}}))]
        if kinds not in (["radio"], ["checkbox"]):
            reason = f"its choices are of the kind {kinds}: only 'radio' and 'checkbox' are supported"
            raise TaskNotConvertible(reason=reason)
        is_box = kinds == ["checkbox"]
        # A bare name is not a question: their pages show only the box.
        shown = "Tick what applies." if is_box and text.isidentifier() else text
        question = names.question(shown, "multiple" if is_box else "single", text, required=required or is_box)
        values: set[str] = set()
        question["choices"] = [
            {
                "value": _unused(choice, values),
                "text": shown_text(choice),
                "questions": [*_tree(_object(follow_ups), names, required=required)],
            }
            for choice, follow_ups in choices.items()
            if choice != "_type_"
        ]
        yield question


def _multiselect(text: str, options: list[Any], names: _Names) -> dict[str, Any]:
    values = [_text(option, "value") for option in options]
    if about := _OF_PROFILES & {*values}:
        raise TaskNotConvertible(
            reason=f"{' and '.join(sorted(about))} are about the bot's profile, and no unit shows annotators a profile"
        )
    choices = [{"value": value, "text": _text(option, "label")} for value, option in zip(values, options, strict=True)]
    return names.question(text, "multiple", "labels", choices=choices)


def _labels(options: list[Any]) -> dict[str, str]:
    """Return ABC-Eval's three texts by the values used here; raises TaskNotConvertible if their order differs."""
    for text, meaning in zip(options, _CONVERSATIONS.values(), strict=True):
        if meaning not in str(text):
            raise TaskNotConvertible(reason=f"its choice {text!r} does not say {meaning!r}")
    return dict(zip(_CONVERSATIONS, options, strict=True))


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TaskNotConvertible(reason=f"it holds {value!r} in place of an object")
    return value


def _text(holder: object, key: str) -> str:
    text = _object(holder).get(key)
    if not isinstance(text, str):
        raise TaskNotConvertible(reason=f"it has no text {key!r} in each place that needs one")
    return text


def _unused(text: str, used: set[str]) -> str:
    """Return an unused name made from a text, and mark it as used."""
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    plain = plain if plain[:1].isalpha() else f"q_{plain}"
    number, name = 1, plain[:_LONGEST_NAME].rstrip("_")
    while name in used:
        number += 1
        ending = f"_{number}"
        name = plain[: _LONGEST_NAME - len(ending)].rstrip("_") + ending
    used.add(name)
    return name
