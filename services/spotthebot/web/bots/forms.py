"""The form that registers a bot.

Its fields come from the contract of `bots`, and its content is sent to the API of `bots`.

A field's name is its path in the form: `webhook.url` is the address of a webhook, `limits.concurrency` a limit of
every bot.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal

from pydantic import ValidationError

from spotthebot.contracts.bots.protocols import Protocol
from spotthebot.contracts.bots.registry import Limits
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.kit.text.validation import reason_of
from spotthebot.web.layout.forms import as_typed, kinds_of

PROTOCOLS: Final = kinds_of(Protocol)
OF_TEAMS: Final = ("webhook", "openai", "parlai", "builtin")
"""The protocols that a team may register.

Models of other protocols run on the suite's server: only for administrators.
"""
WITH_SECRET: Final = frozenset({"webhook", "openai"})
_FIXED: Final = frozenset({"kind", "plugin", "version"})
_IN_FRONT: Final = frozenset({"parlai.service", "openai.system_prompt", "triton.url"})
"""Optional fields that the form always shows, so that nobody has to search for them."""
_MANY_CHARACTERS: Final = 1000

_FAULTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "missing": ("missing", "", ""),
    "string_too_long": ("too_long", "most", "max_length"),
    "too_long": ("too_long", "most", "max_length"),
    "int_parsing": ("whole_number", "", ""),
    "int_from_float": ("whole_number", "", ""),
    "int_parsing_size": ("whole_number", "", ""),
    "float_parsing": ("number", "", ""),
    "finite_number": ("number", "", ""),
    "greater_than_equal": ("at_least", "least", "ge"),
    "greater_than": ("above", "bound", "gt"),
    "less_than_equal": ("at_most", "most", "le"),
    "less_than": ("below", "bound", "lt"),
}
"""By the kind of pydantic's error: the name of a text, the place in this text, and the limit that fills the place."""
_OWN_FAULTS: Final[Mapping[str, str]] = {"domains": "domain", "name": "people"}
"""By field: the text for a failed check of the contract."""

FieldKind = Literal["text", "url", "long", "whole", "number", "choice", "flag", "list", "secret"]


@dataclass(frozen=True)
class FormField:
    """One field of the form. `label` is the name of its texts in the catalogue, `value` its value in an empty form."""

    name: str
    label: str
    kind: FieldKind
    required: bool = False
    value: str = ""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None

    @property
    def in_front(self) -> bool:
        """Whether the form always shows the field. The other fields are under further settings."""
        return self.required or self.kind == "secret" or self.name in _IN_FRONT


@dataclass(frozen=True)
class Fault:
    """A fault of a field: a text of the catalogue and the values for its places, or a service's own words."""

    text: str = ""
    places: Mapping[str, object] = field(default_factory=dict)
    detail: str = ""


@cache
def fields_of(kind: str) -> tuple[FormField, ...]:
    """Return the fields of a protocol. The fields that the form always shows come first."""
    found = list(_fields(PROTOCOLS[kind].model_json_schema(), (kind,), kind))
    if kind in WITH_SECRET:
        found.append(FormField(f"{kind}.secret", f"{kind}_secret", "secret"))
    return tuple(sorted(found, key=lambda each: not each.in_front))


@cache
def limit_fields() -> tuple[FormField, ...]:
    """Return the fields of a bot's limits."""
    return tuple(_fields(Limits.model_json_schema(), ("limits",), "limits"))


def version_document(form: Mapping[str, str], kind: str) -> dict[str, Any]:
    """Convert the form's content to a `BotVersionIn`. Empty fields are left out."""
    document: dict[str, Any] = {"protocol": {"kind": kind, **_filled_in(form, fields_of(kind), kind)}}
    secret = document["protocol"].pop("secret", None)
    return document if secret is None else document | {"secret": secret.strip()}


def settings_document(form: Mapping[str, str]) -> dict[str, Any]:
    """Convert the settings that can be changed later to a `BotChangesIn`."""
    return {
        "description": form.get("description", "").strip(),
        "domains": form.get("domains", "").replace(",", " ").split(),
        "public": "public" in form,
        "limits": _filled_in(form, limit_fields(), "limits"),
    }


def bot_document(form: Mapping[str, str], kind: str) -> dict[str, Any]:
    """Convert the form's content to a `BotIn`."""
    return {"name": form.get("name", ""), **settings_document(form), **version_document(form, kind)}


def values_of(document: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """Convert a protocol or limits back to form content: the text of each field, by the field's name."""
    typed: dict[str, str] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            typed |= values_of(value, f"{prefix}.{name}")
        elif isinstance(value, list | tuple):
            typed[f"{prefix}.{name}"] = "\n".join(map(str, value))
        elif value is not None and value is not False:
            typed[f"{prefix}.{name}"] = as_typed(value)
    return typed


def faults_of(error: ValidationError, kind: str) -> dict[str, Fault]:
    """Return the faults of a form by field name.

    A fault has a text of the catalogue if the catalogue has one for it.
    """
    found: dict[str, Fault] = {}
    for each in error.errors(include_url=False, include_input=False):
        name = field_at(each["loc"], kind)
        found.setdefault(name, _fault(each, name))
    return found


def field_at(place: Sequence[str | int], kind: str) -> str:
    """Return the name of the form field for a path in the document."""
    parts = [part for part in place if isinstance(part, str) and not part.isdecimal()]
    if parts[:1] == ["protocol"]:
        return ".".join([kind, *parts[1:]] if parts[1:2] != [kind] else parts[1:])
    return f"{kind}.secret" if parts[:1] == ["secret"] else ".".join(parts)


def _fault(found: Mapping[str, Any], name: str) -> Fault:
    kind, given = found["type"], found.get("ctx", {})
    if kind in {"string_too_short", "too_short"}:
        return Fault("too_short" if given.get("actual_length") else "missing", {"least": given["min_length"]})
    if kind in _FAULTS:
        text, place, limit = _FAULTS[kind]
        return Fault(text, {place: given[limit]} if place else {})
    if kind in {"string_pattern_mismatch", "value_error"}:
        if name.endswith("url"):
            return Fault("chat_url" if name == "parlai.url" else "url")
        if name in _OWN_FAULTS and (name != "name" or HUMAN_NAME in reason_of(found)):
            return Fault(_OWN_FAULTS[name])
    return Fault(detail=reason_of(found))


def _filled_in(form: Mapping[str, str], fields: Sequence[FormField], prefix: str) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for each in fields:
        *groups, name = each.name.removeprefix(f"{prefix}.").split(".")
        typed = form.get(each.name, "")
        value: Any = typed
        if each.kind == "flag":
            value = bool(typed)
        elif each.kind == "list":
            value = [line.strip("\r") for line in typed.split("\n") if line.strip()]
        elif not typed.strip():
            continue
        inner = document
        for group in groups:
            inner = inner.setdefault(group, {})
        inner[name] = value if each.kind in {"flag", "list", "long"} else typed.strip()
    return document


def _fields(schema: Mapping[str, Any], place: tuple[str, ...], labelled: str) -> Iterator[FormField]:
    for name, found in schema["properties"].items():
        if name in _FIXED:
            continue
        described = next((each for each in found.get("anyOf", ()) if each.get("type") != "null"), found)
        if "$ref" in described:
            inner = schema["$defs"][described["$ref"].rpartition("/")[2]]
            yield from _fields(inner, (*place, name), name)
            continue
        kind, default = _kind(name, described), found.get("default")
        yield FormField(
            name=".".join((*place, name)),
            label=f"{labelled}_{name}",
            kind=kind,
            required=name in schema.get("required", ()),
            value="" if kind == "list" else as_typed(default),
            choices=tuple(described.get("enum", ())),
            low=described.get("minimum", described.get("exclusiveMinimum")),
            high=described.get("maximum", described.get("exclusiveMaximum")),
        )


def _kind(name: str, described: Mapping[str, Any]) -> FieldKind:
    if "enum" in described:
        return "choice"
    kinds: Mapping[str, FieldKind] = {"integer": "whole", "number": "number", "boolean": "flag", "array": "list"}
    if described["type"] in kinds:
        return kinds[described["type"]]
    if name.endswith("url"):
        return "url"
    return "long" if described.get("maxLength", 0) >= _MANY_CHARACTERS else "text"
