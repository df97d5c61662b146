"""JSON exports of annotation tools as flat rows: a row for each annotation of an item.

* Label Studio, "JSON": https://labelstud.io/guide/export ("JSON format of annotated tasks") and
  https://labelstud.io/guide/task_format. A task has `data` and `annotations`; `from_name` of a result is its column.
* Argilla, `dataset.records.to_json`: https://docs.argilla.io/latest/reference/argilla/records/records. A record has
  `fields`, `metadata` and `responses`: by question, a list of `value` and `user_id`.
* Potato, a folder for each annotator: https://github.com/davidjurgens/potato/blob/master/docs/export_formats.md
  (`user_state.json`, since 2.0) and `annotated_instances.jsonl` (before), whose `label_annotations` hold, by schema,
  the labels that were chosen.

Any other object is itself one row, such as a line of FastChat's votes in JSON Lines (lmsys/mt_bench_human_judgments and
lmsys/chatbot_arena_conversations on the Hugging Face Hub: `model_a`, `model_b`, `winner`).
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from spotthebot.readers.files.cells import column_name
from spotthebot.readers.files.numbers import plain_number

Content = Mapping[str, object]
LABEL_STUDIO: Final = "Label Studio's export"
STATE_FILE: Final = "user_state.json"
_POTATO_FILES = (STATE_FILE, "annotated_instances.jsonl")
_POTATO_LABELS = "instance_id_to_label_to_value"
_NOT_TICKED = {"", "false", "off"}
_NUMBERED = ("scale_", "text_box", "slider", "number")
"""The beginnings of Potato's label names whose value is the answer."""
_MAX_DEPTH = 20
_MAX_STATE_BYTES = 256 * 1024**2


def form_of(content: Content) -> str:
    """Return the name of the tool that wrote an object."""
    if _is_label_studio(content):
        return LABEL_STUDIO
    if _is_argilla(content):
        return "Argilla's export"
    return "Potato's export" if _is_potato(content) else "JSON"


def name_of(content: Content) -> str:
    """Return the tool's name for the item of an object, such as `task 7`; empty for other objects."""
    if _is_label_studio(content):
        return f"task {text_of(content.get('id'))}"
    if _is_argilla(content):
        return f"record {text_of(content.get('id'))}"
    return ""


def emails_of(content: Content) -> Iterator[tuple[str, str]]:
    """Yield id and email of the annotators of a Label Studio task, if it has both."""
    for annotation in _objects(content.get("annotations")) if _is_label_studio(content) else ():
        by = _object(annotation.get("completed_by"))
        if by.get("id") is not None and by.get("email"):
            yield text_of(by["id"]), text_of(by["email"])


def flat_rows(
    content: Content, *, annotator: str, emails: Mapping[str, str] = MappingProxyType({})
) -> Iterator[dict[str, str]]:
    """Yield the rows of an object of any tool; Potato's rows without an annotator belong to `annotator`.

    Label Studio may write a person once as an object and once as an id. `emails` maps ids to email addresses, so that
    both get the same name.
    """
    if _is_label_studio(content):
        yield from _label_studio_rows(content, emails)
    elif _is_argilla(content):
        yield from _argilla_rows(content)
    elif _is_potato(content):
        yield from _potato_rows(content, annotator)
    else:
        yield _flat(content)


def potato_files(folder: Path) -> list[Path]:
    """Return one file for each annotator in a folder of Potato, in the newer format if there are both."""
    found = [[each / name for name in _POTATO_FILES if (each / name).is_file()] for each in sorted(folder.iterdir())]
    return [files[0] for files in found if files]


def read_potato_state(path: Path) -> Content | None:
    """Return an annotator's `user_state.json`, one object over many lines; None for other files."""
    if path.name != STATE_FILE or path.stat().st_size > _MAX_STATE_BYTES:
        return None
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and _POTATO_LABELS in content else None


def text_of(value: object) -> str:
    """Return a JSON value as the cell of a table: a list with one value becomes this value, other lists become JSON."""
    match value:
        case None | []:
            return ""
        case bool():
            return str(value).lower()
        case str():
            return value.strip()
        case int() | float():
            return plain_number(value)
        case [only]:
            return text_of(only)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _flat(content: Content, prefix: str = "") -> dict[str, str]:
    """Return nested objects as columns, with dots between the names of levels; objects at deep levels become JSON."""
    cells: dict[str, str] = {}
    for key, value in content.items():
        if isinstance(value, dict) and prefix.count(".") < _MAX_DEPTH:
            cells |= _flat(value, f"{prefix}{column_name(key)}.")
        else:
            cells[f"{prefix}{column_name(key)}"] = text_of(value)
    return cells


def _objects(value: object) -> list[Content]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _object(value: object) -> Content:
    return value if isinstance(value, dict) else {}


def _is_label_studio(content: Content) -> bool:
    return isinstance(content.get("data"), dict) and isinstance(content.get("annotations"), list)


def _label_studio_rows(task: Content, emails: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield a row for each annotation that was neither skipped nor corrected.

    A correction names the corrected annotation as its `parent_annotation`.
    """
    data = {"task": text_of(task.get("id")), **_flat(_object(task["data"]))}
    annotations = [each for each in _objects(task["annotations"]) if each.get("was_cancelled") is not True]
    corrected = {_id_of(each.get("parent_annotation")) for each in annotations}
    for annotation in annotations:
        if (own := _id_of(annotation.get("id"))) and own in corrected:
            continue
        by = annotation.get("completed_by")
        who = by.get("email") or by.get("id") if isinstance(by, dict) else emails.get(text_of(by), by)
        answers: dict[str, list[str]] = {}
        for result in _objects(annotation.get("result")):
            answers.setdefault(text_of(result.get("from_name")), []).append(_label_studio_value(result))
        named = {name if name not in data else f"result.{name}": ", ".join(said) for name, said in answers.items()}
        yield {**data, "annotator": text_of(who), "lead_time": text_of(annotation.get("lead_time")), **named}


def _id_of(value: object) -> str:
    """Return the id of an annotation; `value` is the annotation as an object, or the id."""
    return text_of(value.get("id") if isinstance(value, dict) else value)


def _label_studio_value(result: Content) -> str:
    """Return the value of a result, which is under the type of its control (`choices`, `rating`, `number`, `text`)."""
    value = _object(result.get("value"))
    kind = text_of(result.get("type"))
    return text_of(value[kind]) if kind in value else text_of(next(iter(value.values()), None))


def _is_argilla(content: Content) -> bool:
    responses = content.get("responses")
    return isinstance(content.get("fields"), dict) and isinstance(responses, dict | list)


def _argilla_rows(record: Content) -> Iterator[dict[str, str]]:
    """Yield a row for each annotator; discarded responses and drafts are skipped."""
    about = {
        "id": text_of(record.get("id")),
        **_flat(_object(record["fields"])),
        **_flat(_object(record.get("metadata"))),
    }
    answers: dict[str, dict[str, str]] = {}
    for question, responses in _object(record["responses"]).items():
        for response in _objects(responses):
            if response.get("status") not in {"discarded", "draft"}:
                answers.setdefault(text_of(response.get("user_id")), {})[question] = text_of(response.get("value"))
    for who, said in answers.items():
        yield {**about, "annotator": who, **said}


def _is_potato(content: Content) -> bool:
    return "label_annotations" in content or _POTATO_LABELS in content


def _potato_rows(content: Content, annotator: str) -> Iterator[dict[str, str]]:
    who = text_of(content.get("user_id") or content.get("user")) or annotator
    if _POTATO_LABELS in content:
        for item, schemas in _object(content[_POTATO_LABELS]).items():
            yield {"instance_id": item, "annotator": who, **_potato_answers(_object(schemas))}
        return
    item = text_of(content.get("id") or content.get("instance_id"))
    yield {"instance_id": item, "annotator": who, **_potato_answers(_object(content["label_annotations"]))}


def _potato_answers(schemas: Content) -> dict[str, str]:
    answers = {}
    for schema, given in schemas.items():
        labels = _object(_object(given).get("labels", given))
        said = [_potato_answer(label, text_of(value)) for label, value in labels.items()]
        answers[schema] = ", ".join(each for each in said if each)
    return answers


def _potato_answer(label: str, value: str) -> str:
    """Return the chosen answer: a ticked label, or the value of a scale, a number or a text."""
    if label.startswith(_NUMBERED):
        return value
    return "" if value.lower() in _NOT_TICKED else label
