"""Reads a study's file: each of its tasks becomes the declaration of a campaign."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from spotthebot.cli.campaigns.declaration import CampaignTerms, Declaration
from spotthebot.cli.campaigns.declaration_file import (
    OBJECTS,
    CampaignDeclared,
    NamedFiles,
    beside_packages,
    named_twice,
    read_files,
)
from spotthebot.cli.declarations.declared import Contradictions, Declared, Form, read_declared
from spotthebot.cli.declarations.errors import DeclarationFaulty, Fault
from spotthebot.cli.declarations.yaml_file import Place
from spotthebot.cli.studies.declaration import StudyDeclaration, Task
from spotthebot.contracts.names import ReadableName
from spotthebot.kit.text.characters import printable
from spotthebot.kit.text.validation import reason_of

TASKS: Final = "tasks"
_SHARED: Final = "collections"
_CAMPAIGN_NAME: Final = TypeAdapter[str](ReadableName)


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
    page="docs/abc-eval.md",
    example="name: abc-small",
    inside={(TASKS,): Task} | {(TASKS, *place): model for place, model in OBJECTS.items()},
    refused={f"{TASKS}.{_SHARED}": "all tasks of a study show its collections: name them beside the tasks."},
)
