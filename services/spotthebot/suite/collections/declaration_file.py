"""From a file to a declaration, or to a list of all that is wrong with it, each fault with its line and key."""

import difflib
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from spotthebot.suite.collections.declaration import Declaration, OpeningFrom, PartnerSet, PeopleFrom, Stop
from spotthebot.suite.collections.errors import DeclarationFaulty, Fault
from spotthebot.suite.collections.yaml_file import Place, YamlFile, dotted

_MODELS: Mapping[Place, type[BaseModel]] = {
    (): Declaration,
    ("opening",): OpeningFrom,
    ("humans",): PeopleFrom,
    ("partners",): PartnerSet,
    ("stop",): Stop,
}
_UTTERANCES = {"first_utterance": 1, "first_exchange": 2, "first_two_utterances": 2}


@dataclass(frozen=True)
class Declared:
    """A declaration, and the file that it came from."""

    request: Declaration
    file: YamlFile
    sha256: str

    def faulty(self, *faults: tuple[Place, str]) -> DeclarationFaulty:
        """Return an error that names the file's line of each place."""
        messages = [Fault(self.file.line(place), dotted(place), reason) for place, reason in faults]
        return DeclarationFaulty(self.file.path, messages)


def read_declaration(path: Path) -> Declared:
    """Read a collection's file; raises DeclarationFaulty with everything that is wrong with it."""
    file = YamlFile(path)
    if not isinstance(file.content, dict):
        reason = "the file has to hold keys and values, such as 'name: everyday-1': see docs/collecting.md."
        raise file.faulty(Fault(1, "", reason))
    try:
        # As JSON, where strict means strict about numbers and text, and a list may be a tuple.
        request = Declaration.model_validate_json(json.dumps(file.content), strict=True)
    except ValidationError as error:
        faults = [_fault(file, each) for each in error.errors()]
        raise file.faulty(*sorted(faults, key=lambda fault: fault.line or 0)) from error
    declared = Declared(request, file, hashlib.sha256(path.read_bytes()).hexdigest())
    if contradictions := list(_contradictions(request)):
        raise declared.faulty(*contradictions)
    return declared


def _fault(file: YamlFile, error: Mapping[str, Any]) -> Fault:
    missing = error["type"] == "missing"
    place = _place(file, error["loc"], missing=missing)
    return Fault(file.line(place), dotted(place), _reason(place, error, missing=missing))


def _place(file: YamlFile, loc: Place, *, missing: bool) -> Place:
    """Leave out of pydantic's place what names the member of a union, and nothing in the file."""
    place: Place = ()
    for number, part in enumerate(loc, 1):
        if file.holds((*place, part)) or (missing and number == len(loc)):
            place = (*place, part)
    return place


def _reason(place: Place, error: Mapping[str, Any], *, missing: bool) -> str:
    if missing:
        field = _MODELS[place[:-1]].model_fields[str(place[-1])]
        return f"the key is missing. {field.description or ''}".rstrip()
    if error["type"] == "extra_forbidden":
        known = list(_MODELS[place[:-1]].model_fields)
        near = difflib.get_close_matches(str(place[-1]), known, n=1)
        return f"there is no such key: did you mean '{near[0]}'?" if near else f"there is no such key among {known}."
    given = json.dumps(error["input"], ensure_ascii=False)
    reason = f"{error['msg'][:1].lower()}{error['msg'][1:]}, not {given[:60]}"
    quotes = error["type"] == "string_type" and isinstance(error["input"], int | float)
    return f"{reason}: put it in quotes." if quotes else f"{reason}."


def _contradictions(request: Declaration) -> Iterator[tuple[Place, str]]:
    yield from _wrong_for_the_mode(request)
    yield from _named_twice(request)
    if request.opening is not None:
        take = request.opening.take
        utterances = take if isinstance(take, int) else _UTTERANCES[take]
        if utterances > 2 * request.exchanges:
            reason = f"{utterances} utterances are longer than the conversation of {2 * request.exchanges} turns."
            yield ("opening", "take"), f"{reason} Take fewer, or ask for more exchanges."


def _wrong_for_the_mode(request: Declaration) -> Iterator[tuple[Place, str]]:
    mode = request.mode
    if mode == "all_play_all" and len(request.bots) < 2:
        yield ("bots",), "all_play_all needs two bots at least: add one, or choose mode self_play."
    if mode == "bipartite":
        if not request.partners:
            yield ("partners",), "bipartite needs partners: name bots, or {set: NAME, version: N}."
        return
    if request.partners:
        yield ("partners",), f"in {mode} there are no partners: leave them out, or choose mode bipartite."
    if request.order == "target_first":
        yield ("order",), f"target_first is for bipartite: in {mode} there is no target; choose both or first."


def _named_twice(request: Declaration) -> Iterator[tuple[Place, str]]:
    partners = () if isinstance(request.partners, PartnerSet) else request.partners
    for key, names in (("bots", request.bots), ("partners", partners)):
        for number, name in enumerate(names):
            if name in names[:number]:
                yield (key, number), f"'{name}' is named twice: name each bot once."
    for number, name in enumerate(partners):
        if name in request.bots:
            yield ("partners", number), f"'{name}' is a target, too: it would talk to itself; name it once."
