"""Limits of the body of a request: its bytes and its JSON values. A route with higher limits declares them.

The declarations are in `openapi_extra`, so that the OpenAPI documents show them.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive

from spotthebot.kit.settings import EdgeSettings
from spotthebot.kit.text.characters import UNSTORABLE
from spotthebot.kit.web.core.request_faults import Fault, refuse
from spotthebot.kit.web.core.resources import core_of

MAX_VALUES: Final = 20_000
"""The JSON values of a body, nested ones included, unless its route declares more."""
MAX_DEPTH: Final = 32
MAX_FIELDS: Final = 200
"""The fields of one JSON object. Each unknown field is a fault, and faults cost more than values."""
_BYTES, _SETTING, _VALUES = "x-max-body-bytes", "x-max-body-setting", "x-max-json-values"
_BODY_HEADERS = (b"content-length", b"transfer-encoding")
# Each repetition is possessive, and an unclosed string ends with the body, so that no body is scanned twice.
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_SUSPECT = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")


def large_batch(*, max_bytes: int, max_values: int) -> dict[str, Any]:
    """Return the `openapi_extra` of a route that accepts more JSON than other routes."""
    return {_BYTES: max_bytes, _VALUES: max_values}


def file_upload(*, setting: str) -> dict[str, Any]:
    """Return the `openapi_extra` of a route that accepts a file. The named setting limits the file's bytes."""
    binary = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return {_SETTING: setting, "requestBody": {"required": True, "content": binary}}


@dataclass(frozen=True)
class BodyLimits:
    """The limits of the bodies that one route accepts."""

    declared_bytes: int | None
    setting: str
    values: int

    @classmethod
    def declared(cls, openapi_extra: Mapping[str, Any] | None) -> "BodyLimits":
        """Read the limits that a route declares in its `openapi_extra`."""
        extra = openapi_extra or {}
        return cls(extra.get(_BYTES), extra.get(_SETTING, "max_body_bytes"), extra.get(_VALUES, MAX_VALUES))

    def bytes_allowed(self, settings: EdgeSettings) -> int:
        """Return how many bytes a body may have. The limit may be a setting of the application."""
        return self.declared_bytes or int(getattr(settings, self.setting))


class LimitedRequest(Request):
    """A request whose body is limited while it is read. Its JSON is checked before it becomes objects."""

    def __init__(self, request: Request, limits: BodyLimits) -> None:
        largest = limits.bytes_allowed(core_of(request.app).settings)
        announced = request.headers.get("content-length", "")
        self.bytes_announced = int(announced) if announced.isdigit() else largest
        if self.bytes_announced > largest:
            raise _too_large(largest)
        super().__init__(request.scope, _limited(request.receive, largest))
        self._limits = limits

    async def json(self) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON of the body.

        Raises ValueError if it is malformed, and RequestValidationError if it exceeds limits.
        """
        if not hasattr(self, "_checked"):
            self._checked = load_json(await self.body(), max_values=self._limits.values)
        return self._checked


def has_body(request: Request) -> bool:
    """Return whether the request announces a body."""
    return any(name in _BODY_HEADERS for name, _ in request.scope["headers"])


def load_json(body: bytes, *, max_values: int = MAX_VALUES) -> Any:  # noqa: ANN401 - JSON
    """Return the value of a JSON text. First check the number of its values, its depth and the fields of its objects.

    Raises ValueError for malformed JSON or UTF-8. Raises RequestValidationError if the JSON exceeds a limit, or has
    text that neither a database nor an answer can contain: half of a surrogate pair, or NUL.
    """
    _check_size(body, max_values)
    text = body.decode().removeprefix("\ufeff")
    found = json.loads(text, parse_constant=_refuse_constant)
    if body.count(b":") > MAX_FIELDS:
        _check_fields(found)
    if _SUSPECT.search(text):
        faults: list[Fault] = []
        _find_unstorable(found, ("body",), faults)
        refuse(faults, found)
    return found


def _check_size(body: bytes, max_values: int) -> None:
    lists_and_objects = body.count(b"[") + body.count(b"{")
    if lists_and_objects <= MAX_DEPTH and lists_and_objects + body.count(b",") <= max_values:
        return  # brackets inside strings were counted as well
    bare = _STRINGS.sub(b"", body)
    if bare.count(b",") + bare.count(b"[") + bare.count(b"{") > max_values:
        refuse([Fault(("body",), f"The JSON may hold {max_values:,} values at most: send it in parts.")])
    brackets = bare.translate(_SQUARE, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        if not brackets:
            return
        brackets = brackets.replace(b"[]", b"")  # takes away one level
    if brackets:
        refuse([Fault(("body",), f"Lists and objects may be nested {MAX_DEPTH} deep at most.")])


def _check_fields(found: object) -> None:
    unseen = [found]
    while unseen:
        value = unseen.pop()
        if isinstance(value, dict):
            if len(value) > MAX_FIELDS:
                refuse([Fault(("body",), f"An object may have {MAX_FIELDS} fields at most.")])
            value = list(value.values())
        unseen += [each for each in value if isinstance(each, list | dict)] if isinstance(value, list) else []


def _find_unstorable(value: object, place: tuple[str | int, ...], faults: list[Fault]) -> None:
    if isinstance(value, str):
        if found := UNSTORABLE.search(value):
            faults.append(Fault(place, _unstorable(found[0])))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            _find_unstorable(each, (*place, number), faults)
    elif isinstance(value, dict):
        for name, each in value.items():
            if found := UNSTORABLE.search(name):
                faults.append(Fault(place, f"A field's name: {_unstorable(found[0])}"))
            else:
                _find_unstorable(each, (*place, name), faults)


def _unstorable(character: str) -> str:
    if character == "\0":
        return "The text holds the character NUL, which can't be stored."
    return f"The text holds half of a surrogate pair (\\u{ord(character):x}): send whole characters."


def _refuse_constant(name: str) -> None:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _limited(receive: Receive, largest: int) -> Receive:
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > largest:
            raise _too_large(largest)
        return message

    return limited


def _too_large(largest: int) -> HTTPException:
    detail = f"The request body may hold {largest} bytes at most: send it in parts"
    return HTTPException(413, detail)
