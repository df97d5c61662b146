"""Reads a declaration from a file, or reports all faults of the file, each with its line and key."""

import difflib
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from spotthebot.cli.declarations.errors import DeclarationFaulty, Fault
from spotthebot.cli.declarations.yaml_file import Place, YamlFile, dotted
from spotthebot.kit.text.validation import reason_of

DeclarationT = TypeVar("DeclarationT", bound=BaseModel)
DeclarationT_co = TypeVar("DeclarationT_co", bound=BaseModel, covariant=True)
Contradictions = Iterator[tuple[Place, str]]
"""Places of values that are valid alone but not together, each with the reason."""
_OF_LISTS: Final = {
    "tuple_type": "it has to be a list, in brackets or with a dash before each entry, not {given}.",
    "too_short": "its entries have to be {min_length} at least, not {actual_length}.",
    "too_long": "its entries may be {max_length} at most, not {actual_length}.",
}
"""Our messages for pydantic's errors about lists, which use words of Python."""


@dataclass(frozen=True)
class Form(Generic[DeclarationT]):
    """The form of a file: the models of its content, and the documentation's `page` about it.

    `inside` has the model of each object in the file, by its place without numbers of list entries. If the object is a
    member of a union, its place ends with the member's tag, as in pydantic. `refused` are keys that the form does not
    have, such as `tasks.collections`, each with the reason. `example` is an example of the file's first line.
    """

    model: type[DeclarationT]
    contradictions: Callable[[DeclarationT], Contradictions]
    page: str
    example: str
    inside: Mapping[Place, type[BaseModel]] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)

    def keys(self, place: Place, loc: Place) -> type[BaseModel]:
        """Return the model of the object at a place in the file. `loc` is pydantic's location of the same object."""
        return self.inside.get(_unnumbered(loc)) or self.inside[_unnumbered(place)] if place else self.model


def _of_the_file(place: Place) -> Place:
    return place


@dataclass(frozen=True)
class Declared(Generic[DeclarationT_co]):
    """A declaration, and the file that contains it.

    `in_file` returns the place in the file for a place in the declaration; they differ if the file has more around it.
    """

    request: DeclarationT_co
    file: YamlFile
    sha256: str
    in_file: Callable[[Place], Place] = field(default=_of_the_file, kw_only=True)

    def faulty(self, *faults: tuple[Place, str]) -> DeclarationFaulty:
        """Return an error with a message for each fault, which names the fault's line in the file."""
        placed = [(self.in_file(place), reason) for place, reason in faults]
        messages = [Fault(self.file.line(place), dotted(place), reason) for place, reason in placed]
        return DeclarationFaulty(self.file.path, messages)


def read_declared(path: Path, form: Form[DeclarationT]) -> Declared[DeclarationT]:
    """Read a file of this form; raises DeclarationFaulty with all faults of the file."""
    file = YamlFile(path, page=form.page)
    if not isinstance(file.content, dict):
        reason = f"the file must hold keys and values, such as '{form.example}': see {form.page}."
        raise file.faulty(Fault(1, "", reason))
    try:
        # As JSON, where strict means strict about numbers and text, and a list may be a tuple.
        request = form.model.model_validate_json(json.dumps(file.content), strict=True)
    except ValidationError as error:
        faults = [_fault(form, file, each) for each in error.errors() if not _follows(each)]
        raise file.faulty(*sorted(faults, key=lambda fault: fault.line or 0)) from error
    declared = Declared(request, file, hashlib.sha256(path.read_bytes()).hexdigest())
    if contradictions := list(form.contradictions(request)):
        raise declared.faulty(*contradictions)
    return declared


def schema_text(model: type[BaseModel]) -> str:
    """Return the JSON Schema of a model, as draft 7: editors with YAML support read this draft."""
    schema: dict[str, Any] = model.model_json_schema()
    return json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **schema}, indent=2, ensure_ascii=False)


def _follows(error: Mapping[str, Any]) -> bool:
    """Whether an error only follows from others: pydantic does not count the faulty entries of a list."""
    return error["type"] == "too_short" and bool(len(error["input"]) >= error["ctx"]["min_length"])


def _unnumbered(place: Place) -> Place:
    return tuple(part for part in place if isinstance(part, str))


def _fault(form: Form[DeclarationT], file: YamlFile, error: Mapping[str, Any]) -> Fault:
    missing = error["type"] == "missing"
    place = _place(file, error["loc"], missing=missing) or _first_named(file, reason_of(error))
    line = file.line_of_key(place) if error["type"] == "extra_forbidden" else file.line(place)
    return Fault(line, dotted(place), _reason(form, place, error, missing=missing))


def _place(file: YamlFile, loc: Place, *, missing: bool) -> Place:
    """Return the place in the file for pydantic's location.

    Tags of unions are left out: the file does not contain them.
    """
    place: Place = ()
    for number, part in enumerate(loc, 1):
        if file.holds((*place, part)) or (missing and number == len(loc)):
            place = (*place, part)
    return place


def _first_named(file: YamlFile, rule: str) -> Place:
    """Return the place of the first key that a rule's message mentions and the file contains."""
    return next(((word,) for word in re.findall(r"\w+", rule) if file.holds((word,))), ())


def _reason(form: Form[DeclarationT], place: Place, error: Mapping[str, Any], *, missing: bool) -> str:
    if missing:
        described = form.keys(place[:-1], error["loc"][:-1]).model_fields[str(place[-1])]
        return f"the key is missing. {described.description or ''}".rstrip()
    if error["type"] == "extra_forbidden":
        if (named := dotted(_unnumbered(place))) in form.refused:
            return form.refused[named]
        known = list(form.keys(place[:-1], error["loc"][:-1]).model_fields)
        near = difflib.get_close_matches(str(place[-1]), known, n=1)
        there = ", ".join(known)
        return f"there is no such key: did you mean '{near[0]}'?" if near else f"there is no such key among {there}."
    given = json.dumps(error["input"], ensure_ascii=False)
    if error["type"] in _OF_LISTS:
        return _OF_LISTS[error["type"]].format(**error.get("ctx", {}), given=given[:60])
    if error["type"] == "value_error":  # a check of ours, which says itself what was given
        return f"{reason_of(error)}."
    reason = f"{reason_of(error)}, not {given[:60]}"
    quotes = error["type"] == "string_type" and isinstance(error["input"], int | float)
    return f"{reason}: put it in quotes." if quotes else f"{reason}."
