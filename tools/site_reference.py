"""Pages of the site that are made from the code: endpoints and types of a service, functions of a package."""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import getsource
from pathlib import Path
from textwrap import dedent
from typing import Any, Final, cast

from spotthebot import clients
from spotthebot.contracts.services import API_NAMES
from spotthebot.kit.errors import Error
from spotthebot.kit.web.core.problems import name_of, status_of
from spotthebot.kit.web.core.routers import ROLES
from spotthebot.local.runtime.services import load_service
from tools import ROOT

Json = Mapping[str, Any]
_OF_EVERY_SERVICE: Final = ("spotthebot.kit.access.", "spotthebot.kit.web.")


def page_of_module(file: Path) -> str:
    """Return the page of the package with this `__init__.py`: the docstrings of all names that it exports.

    A package that exports no names has a section for each of its modules.
    """
    name = ".".join(file.parent.relative_to(ROOT).parts[1:])
    if "__all__" in file.read_text():
        sections = [f".. automodule:: {name}\n   :members:\n   :imported-members:\n"]
    else:
        modules = sorted(each.stem for each in file.parent.glob("*.py") if each != file)
        sections = [f".. automodule:: {name}\n"]
        sections += [f"{each}\n{'-' * len(each)}\n\n.. automodule:: {name}.{each}\n   :members:\n" for each in modules]
    return "\n".join([f"# {name}\n\n```{{eval-rst}}", *sections, "```\n"])


def name_of_download(file: Path) -> str:
    """Return the name that an OpenAPI document has beside its page, which has the document's own name."""
    return f"{file.stem}-openapi.json"


def page_of_openapi(file: Path) -> str:
    """Return the page of the service with this OpenAPI document: its endpoints by tag, problems, types."""
    document = document_of(file.stem)
    by_tag = defaultdict[str, list[str]](list)
    for method, path, operation in operations_of(file.stem):
        by_tag[operation["tags"][0]].append("\n".join(_operation(file.stem, method, path, operation)))
    info = document["info"]
    modules = modules_of_types()
    types = [
        line
        for name, schema in document["components"]["schemas"].items()
        for line in type_lines(name, schema, modules.get(name, ""))
    ]
    return "\n".join(
        [
            "---\ntocdepth: 2\n---\n",
            f"# {info['title'].removeprefix('Spot The Bot: ')} over HTTP",
            f"\n{info.get('summary', '')} A running service has this page as `/docs`, where requests can be tried.\n",
            f"`/openapi.json` of a service is its [OpenAPI document]({name_of_download(file)}).\n",
            "When to repeat a request: [retries](../python-client.md#retries).\n",
            *("\n".join([f"## {tag.capitalize()}\n", *parts]) for tag, parts in by_tag.items()),
            "## Problems\n",
            "An error is a [problem document](#problem): `type` is `urn:spotthebot:problem:` and one of these names.\n",
            *_problems(file.stem),
            "\n## Types\n",
            "Python has each type under its name in `spotthebot.contracts`.\n",
            *types,
        ]
    )


def _operation(service: str, method: str, path: str, operation: Json) -> Iterator[str]:
    called = operation["operationId"]
    yield f"({service}.{called})=\n### {method.upper()} {path}\n\n{text_of(operation.get('description', ''))}\n"
    if service in API_NAMES:
        yield f"- Python: `{service.capitalize()}.{called}({_parameters(service, called)})`"
    if roles := operation.get(ROLES):
        yield f"- Roles: {', '.join(f'`{role}`' for role in roles)}"
    for each in operation.get("parameters", ()):
        yield _line(each["name"], each["schema"], each.get("description", ""), each["required"], each["in"])
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        yield f"- Body: {_name(body.get('schema', {}))} (`{media}`)"
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            kinds = answer.get("content", {}).items()
            bodies = [f"{_name(each.get('schema', {}))} (`{media}`)" for media, each in kinds]
            yield f"- {status}: {', '.join(bodies) or 'no body'}"
    if refusals := [status for status in operation["responses"] if status >= "4"]:
        yield f"- [Problems](#problems): {', '.join(refusals)}"
    yield ""


@cache
def document_of(service: str) -> dict[str, Any]:
    """Return the OpenAPI document of a service."""
    return cast("dict[str, Any]", json.loads((ROOT / "openapi" / f"{service}.json").read_text()))


def operations_of(service: str) -> Iterator[tuple[str, str, Json]]:
    """Yield method, path and description of each operation of a service."""
    for path, operations in document_of(service)["paths"].items():
        for method, operation in operations.items():
            yield method, path, operation


def _problems(service: str) -> Iterator[str]:
    """Yield a line for each error of a service and of what all services share, by status and name."""
    load_service(service)
    prefixes = (f"spotthebot.{service}.", *_OF_EVERY_SERVICE)
    found = {each for each in _below(Error) if each.__module__.startswith(prefixes)}
    named = {(status_of(error := each.__new__(each)), name_of(error)): each for each in found}
    for (status, name), each in sorted(named.items()):
        yield f"- {status} `{name}`: {text_of(each.__doc__ or '')}"


def _below(kind: type[Error]) -> Iterator[type[Error]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def _parameters(service: str, method: str) -> str:
    """Return the parameters of a client's method, as its source declares them."""
    written = getsource(getattr(getattr(clients, service.capitalize()), method).describe)
    (definition,) = ast.parse(dedent(written)).body
    return ast.unparse(cast("ast.FunctionDef", definition).args).removeprefix("self").removeprefix(", ")


def type_lines(name: str, schema: Json, module: str = "") -> Iterator[str]:
    """Yield the section of a type: its description, then each field."""
    yield f"### {name}\n\n{text_of(schema.get('description', ''))}{module and f' (`{module}`)'}\n"
    required = schema.get("required", ())
    for field, each in schema.get("properties", {}).items():
        yield _line(field, each, each.get("description", ""), field in required)
    if "properties" not in schema:
        yield _name({key: value for key, value in schema.items() if key != "title"})
    yield ""


def _line(name: str, schema: Json, description: str, required: bool, place: str = "") -> str:  # noqa: FBT001 - the schema's
    said = ", ".join(filter(None, [place, _name(schema), "required" if required else _default(schema)]))
    return f"- `{name}` ({said}){': ' if description else ''}{text_of(description)}"


def _default(schema: Json) -> str:
    return f"default `{json.dumps(schema['default'])}`" if "default" in schema else ""


def _name(schema: Json) -> str:
    """Return what a schema allows, with links to types."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(map(_name, schema[several]))
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_name(schema.get('items', {}))}"
    return str(schema.get("format", schema.get("type", "anything")))


def text_of(description: str) -> str:
    """Return a description as one paragraph, in which only code is marked."""
    parts = re.split(r"(`[^`]*`)", " ".join(description.split()))
    return "".join(part if part.startswith("`") else re.sub(r"([<>*_\[\]{}|$~])", r"\\\1", part) for part in parts)


@cache
def modules_of_types() -> Mapping[str, str]:
    """Return the module of each class of `spotthebot.contracts`."""
    folder = ROOT / "shared"
    return {
        name: ".".join(file.relative_to(folder).with_suffix("").parts)
        for file in sorted((folder / "spotthebot" / "contracts").rglob("*.py"))
        for name in re.findall(r"(?m)^class (\w+)", file.read_text())
    }
