"""What a route takes as its body: how much, and which JSON; a route declares what it needs beyond the usual.

The declarations stand in `openapi_extra`, so that the OpenAPI documents show them.
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
from spotthebot.kit.web.core.request_faults import Fault, refuse

MAX_VALUES: Final = 20_000
"""Values, those in lists and objects included, that the JSON of a body holds unless its route declares more."""
MAX_DEPTH: Final = 32
MAX_FIELDS: Final = 200
"""Fields of one JSON object. Each that is not known is a fault, and faults cost more than values."""
_BYTES, _SETTING, _VALUES = "x-max-body-bytes", "x-max-body-setting", "x-max-json-values"
_BODY_HEADERS = (b"content-length", b"transfer-encoding")
# Each repetition is possessive and an unclosed string ends with the body: no body is walked through twice.
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_SUSPECT = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def large_batch(*, max_bytes: int, max_values: int) -> dict[str, Any]:
    """Declare a route that takes more JSON than others: its `openapi_extra`."""
    return {_BYTES: max_bytes, _VALUES: max_values}


def file_upload(*, setting: str) -> dict[str, Any]:
    """Declare a route that takes a file, of at most as many bytes as a setting says: its `openapi_extra`."""
    binary = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return {_SETTING: setting, "requestBody": {"required": True, "content": binary}}


@dataclass(frozen=True)
class BodyLimits:
    """The limits of one route."""

    declared_bytes: int | None
    setting: str
    values: int

    @classmethod
    def declared(cls, openapi_extra: Mapping[str, Any] | None) -> "BodyLimits":
        """Read what a route declares."""
        extra = openapi_extra or {}
        return cls(extra.get(_BYTES), extra.get(_SETTING, "max_body_bytes"), extra.get(_VALUES, MAX_VALUES))

    def bytes_allowed(self, settings: EdgeSettings) -> int:
        """Return how many bytes a body may hold, by the settings of the application."""
        return self.declared_bytes or int(getattr(settings, self.setting))


class LimitedRequest(Request):
    """A request whose body is limited while it is read, and whose JSON is checked before it becomes objects."""

    def __init__(self, request: Request, limits: BodyLimits) -> None:
        largest = limits.bytes_allowed(request.app.state.settings)
        announced = request.headers.get("content-length", "")
        self.bytes_announced = int(announced) if announced.isdigit() else largest
        if self.bytes_announced > largest:
            raise _too_large(largest)
        super().__init__(request.scope, _limited(request.receive, largest))
        self._limits = limits

    async def json(self) -> Any:  # noqa: ANN401 - JSON
        """Return the body's JSON; raises ValueError where it is none, and RequestValidationError."""
        if not hasattr(self, "_checked"):
            self._checked = load_json(await self.body(), max_values=self._limits.values)
        return self._checked


def has_body(request: Request) -> bool:
    """Whether a body was announced."""
    return any(name in _BODY_HEADERS for name, _ in request.scope["headers"])


def load_json(body: bytes, *, max_values: int = MAX_VALUES) -> Any:  # noqa: ANN401 - JSON
    """Return what the JSON stands for, once its values, depth and objects' fields are known to be within limits.

    Raises ValueError where it is no JSON in UTF-8, and RequestValidationError where it holds too much, or text that no
    database and no answer can hold: half of a surrogate pair, NUL.
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
        return  # what stands in strings was counted as well
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
        if found := _UNSTORABLE.search(value):
            faults.append(Fault(place, _unstorable(found[0])))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            _find_unstorable(each, (*place, number), faults)
    elif isinstance(value, dict):
        for name, each in value.items():
            if found := _UNSTORABLE.search(name):
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
