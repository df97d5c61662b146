"""The operations of the services as tools, made from their OpenAPI documents."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from spotthebot.kit.web.core.routers import ROLES

Document = Mapping[str, Any]
_JSON: Final = "application/json"
_METHODS: Final = frozenset({"get", "post", "put", "patch", "delete"})
_OF_OPERATORS: Final = "operations"
"""The tag of health, readiness and metrics."""
BODY: Final = "body"
"""The argument that holds the body of a request."""


@dataclass(frozen=True)
class Request:
    """A request to a service."""

    method: str
    path: str
    query: dict[str, Any]
    body: Any


@dataclass(frozen=True)
class Operation:
    """An operation of a service as a model sees it, and how it is requested. `roles` is None if it needs no key."""

    service: str
    name: str
    method: str
    path: str
    description: str
    schema: dict[str, Any]
    in_path: frozenset[str]
    roles: frozenset[str] | None

    def request(self, arguments: Mapping[str, Any]) -> Request:
        """Return the request for the arguments of a call, which has all parts of the path."""
        path = self.path
        for name in self.in_path:
            path = path.replace(f"{{{name}}}", quote(str(arguments[name]), safe=""))
        query = {name: value for name, value in arguments.items() if name not in {BODY, *self.in_path}}
        return Request(self.method.upper(), path, query, arguments.get(BODY))


def operations_of(documents: Mapping[str, Document]) -> list[Operation]:
    """Return the operations of all services that take and return JSON; a name of several gets its service's before it.

    Files that are sent or received, streams of events and what operators need are left out.
    """
    found = [each for service, document in documents.items() for each in _operations(service, document)]
    count = Counter(each.name for each in found)
    return [each if count[each.name] == 1 else _named(each) for each in found]


def _named(operation: Operation) -> Operation:
    return Operation(**{**vars(operation), "name": f"{operation.service}_{operation.name}"})


def _operations(service: str, document: Document) -> Iterator[Operation]:
    schemas = document.get("components", {}).get("schemas", {})
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method not in _METHODS or _OF_OPERATORS in operation.get("tags", ()) or not _is_json(operation):
                continue
            parameters = [each for each in operation.get("parameters", ()) if each["in"] in {"path", "query"}]
            yield Operation(
                service=service,
                name=operation["operationId"],
                method=method,
                path=path,
                description=f"{operation['description']} ({method.upper()} {path} of {service})",
                schema=_schema(operation, parameters, schemas),
                in_path=frozenset(each["name"] for each in parameters if each["in"] == "path"),
                roles=frozenset(operation[ROLES]) if ROLES in operation else None,
            )


def _is_json(operation: Document) -> bool:
    bodies = operation.get("requestBody", {}).get("content", {_JSON: {}})
    answers = [each.get("content", {_JSON: {}}) for status, each in operation["responses"].items() if status[0] == "2"]
    return _JSON in bodies and any(_JSON in content for content in answers)


def _schema(operation: Document, parameters: list[Document], schemas: Document) -> dict[str, Any]:
    properties = {each["name"]: _described(each) for each in parameters}
    required = [each["name"] for each in parameters if each.get("required")]
    if body := operation.get("requestBody"):
        properties[BODY] = body["content"][_JSON]["schema"]
        required += [BODY] if body.get("required") else []
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return _with_definitions(schema, schemas)


def _described(parameter: Document) -> dict[str, Any]:
    return {**parameter["schema"], "description": parameter.get("description", "")}


def _with_definitions(schema: dict[str, Any], schemas: Document) -> dict[str, Any]:
    """Return a schema that stands alone: what it refers to in the document is in its `$defs`."""
    definitions: dict[str, Any] = {}

    def moved(value: Any) -> Any:  # noqa: ANN401 - any part of a schema
        if isinstance(value, list):
            return [moved(each) for each in value]
        if not isinstance(value, dict):
            return value
        if isinstance(reference := value.get("$ref"), str):
            name = reference.rpartition("/")[2]
            if name not in definitions:
                definitions[name] = {}  # a schema may refer to itself
                definitions[name] = moved(schemas[name])
            return {**value, "$ref": f"#/$defs/{name}"}
        return {key: moved(each) for key, each in value.items()}

    whole: dict[str, Any] = moved(schema)
    return {**whole, "$defs": definitions} if definitions else whole
