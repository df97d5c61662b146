"""A study's file: its keys, and how each of its tasks becomes the declaration of a campaign.

A task says what a campaign's file says, without the keys that all tasks of a study share.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, ValidationError
from pydantic.config import JsonDict

from spotthebot.cli.campaigns.declaration_file import (
    OBJECTS,
    CampaignDeclared,
    CampaignTerms,
    Collection,
    Declaration,
    NamedFiles,
    beside_packages,
    named_twice,
    read_files,
)
from spotthebot.cli.declarations.declared import Contradictions, Declared, Form, read_declared
from spotthebot.cli.declarations.errors import DeclarationFaulty, Fault
from spotthebot.cli.declarations.yaml_file import Place
from spotthebot.contracts.annotation.campaign_settings import CampaignSettings
from spotthebot.contracts.annotation.campaigns import MAX_COLLECTIONS
from spotthebot.contracts.annotation.studies import MAX_TASKS, StudySettings
from spotthebot.contracts.names import ReadableName
from spotthebot.contracts.wire import Name
from spotthebot.kit.text.characters import printable
from spotthebot.kit.text.validation import reason_of

TASKS: Final = "tasks"
_SHARED: Final = "collections"
_CAMPAIGN_NAME: Final = TypeAdapter[str](ReadableName)
_EXAMPLES: list[JsonValue] = [
    {
        "name": "abc-small",
        "collections": ["everyday-1"],
        "chats": ["talks"],
        "tasks": [
            {"protocol": "abc_consistency", "units_twice": 12},
            {"protocol": "dialogue_likert", "units_twice": 12, "packages_per_annotator": 60},
            {"protocol": "comparative"},
        ],
        "outcome": "quality",
        "seed": 11,
    }
]
_SETTINGS: Final = CampaignSettings.model_fields
Chats = Annotated[Name, Field(description="Name or id of a collection of chats.")]


def _without_default(schema: JsonDict) -> None:
    del schema["default"]


class Task(CampaignTerms):
    """A task of a study: a campaign over the study's collections."""

    model_config = ConfigDict(title="Task")

    name: Name | None = Field(
        default=None,
        description="What the task is called in the study, no other task has the name; without it, as its protocol.",
    )
    annotations_per_segment: Annotated[int, _SETTINGS["annotations_per_segment"]] = 1
    seed: Annotated[int, _SETTINGS["seed"]] = Field(
        default=0,
        description="Of this task's draws; without it, the study's seed.",
        json_schema_extra=_without_default,
    )


class StudyDeclaration(StudySettings):
    """A study for `./stb study`: several tasks over the same dialogues."""

    model_config = ConfigDict(title="Study", json_schema_extra={"examples": _EXAMPLES})

    name: Name = Field(description="What the study is called; the campaign of a task is called NAME.TASK.")
    collections: tuple[Collection, ...] = Field(
        default=(),
        max_length=MAX_COLLECTIONS,
        description="Whose conversations the annotators of every task see, each collection once.",
    )
    chats: tuple[Chats, ...] = Field(
        default=(),
        max_length=MAX_COLLECTIONS,
        description="Collections of chats: what people said of the dialogues that they had are measures too.",
    )
    tasks: tuple[Task, ...] = Field(
        default=(),
        max_length=MAX_TASKS,
        description="What annotators are asked, each task in a campaign of its own; a study of chats needs none.",
    )


@dataclass(frozen=True)
class TaskDeclared:
    """A task of a study. Places in its campaign's declaration are places below the task in the study's file."""

    name: str
    campaign: CampaignDeclared


@dataclass(frozen=True)
class StudyDeclared(Declared[StudyDeclaration]):
    """A study's declaration, with its tasks as declarations of campaigns."""

    tasks: tuple[TaskDeclared, ...]


def read_study(path: Path) -> StudyDeclared:
    """Read a study's file and the files that its tasks name; raises DeclarationFaulty with the faults of all tasks."""
    declared = read_declared(path, _FORM)
    faults: list[Fault] = []
    tasks: list[TaskDeclared] = []
    names: set[str] = set()
    for number, said in enumerate(declared.request.tasks):
        terms = Declared[CampaignTerms](said, declared.file, declared.sha256, in_file=_below(number))
        name = said.name or said.protocol
        try:
            files = read_files(terms)
            name = said.name or (said.protocol if files.protocol is None else files.protocol.name)
            tasks.append(_task(declared.request, terms, files, name))
        except DeclarationFaulty as faulty:
            faults += faulty.faults
        if name in names:
            faults += terms.faulty((("name",), f"two tasks are called '{name}': name one of them.")).faults
        names.add(name)
    if faults:
        raise DeclarationFaulty(path, faults)
    return StudyDeclared(declared.request, declared.file, declared.sha256, tuple(tasks))


def _contradictions(request: StudyDeclaration) -> Contradictions:
    yield from named_twice("collections", request.collections)
    yield from named_twice("chats", request.chats)
    yield from named_twice("scores", [*map(str, request.scores)])
    for number, task in enumerate(request.tasks):
        for place, reason in beside_packages(task):
            yield (TASKS, number, *place), reason
    if not request.tasks and not request.chats:
        yield (TASKS,), "a study needs a task, or `chats` whose people rated their partners."
    if request.tasks and not request.collections:
        yield ("collections",), "tasks need a collection whose conversations annotators see."


def _task(study: StudyDeclaration, terms: Declared[CampaignTerms], files: NamedFiles, name: str) -> TaskDeclared:
    """Return a task as the declaration of its campaign; raises DeclarationFaulty if no campaign can have its name."""
    try:
        campaign_name = _CAMPAIGN_NAME.validate_python(f"{study.name}.{name}")
    except ValidationError as error:
        reason = "; ".join(map(reason_of, error.errors()))
        fault = f"the task's campaign would be called '{printable(f'{study.name}.{name}')}', but a name {reason}."
        raise terms.faulty((("name",), fault)) from error
    said = {key: getattr(terms.request, key) for key in CampaignTerms.model_fields}
    seed = terms.request.seed if "seed" in terms.request.model_fields_set else study.seed
    campaign = Declaration(**said | {"name": campaign_name, "seed": seed}, collections=study.collections)
    return TaskDeclared(name, CampaignDeclared(campaign, terms.file, terms.sha256, files, in_file=terms.in_file))


def _below(number: int) -> Callable[[Place], Place]:
    """Return the function from places in a task's campaign to places in the study's file."""

    def in_file(place: Place) -> Place:
        return place if place[:1] == (_SHARED,) else (TASKS, number, *place)

    return in_file


_FORM: Final = Form(
    StudyDeclaration,
    _contradictions,
    page='"Run a study of several tasks" in the documentation',
    example="name: abc-small",
    inside={(TASKS,): Task} | {(TASKS, *place): model for place, model in OBJECTS.items()},
    refused={f"{TASKS}.{_SHARED}": "all tasks of a study show its collections: name them beside the tasks."},
)
