"""Requests before they are sent, and their bodies: models as JSON, and content that is sent piece by piece."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic_core import to_jsonable_python

_REPEATABLE = frozenset({"GET", "PUT", "DELETE"})
_PIECE_BYTES = 256 * 1024


class Content:
    """A file by its path, bytes, or pieces of bytes; pieces can be sent only once."""

    def __init__(self, source: Path | bytes | Iterable[bytes]) -> None:
        self._source = source

    @property
    def may_be_repeated(self) -> bool:
        return isinstance(self._source, Path | bytes)

    def pieces(self) -> Iterator[bytes]:
        """Return the pieces from the start of the content.

        Pieces without a file or bytes behind them can be read only once.
        """
        if isinstance(self._source, bytes):
            return iter((self._source,))
        if isinstance(self._source, Path):
            return _read(self._source)
        return iter(self._source)


@dataclass(frozen=True, kw_only=True)
class Request:
    """The description of an HTTP request. `params` with the value None are left out.

    `content` is a body sent in pieces.

    `changes_once` means that a repetition of the request changes nothing, whatever its method.
    """

    method: str
    path: str
    params: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: BaseModel | Mapping[str, Any] | None = None
    content: Content | None = None
    changes_once: bool = False

    @property
    def may_be_repeated(self) -> bool:
        """Return whether the request can be sent again without a further change."""
        changes_once = self.changes_once or self.method in _REPEATABLE or "Idempotency-Key" in self.headers
        return changes_once and (self.content is None or self.content.may_be_repeated)


def encoded(body: BaseModel | Mapping[str, Any]) -> bytes:
    """Return a body as JSON. It shows secrets in clear text.

    The JSON holds only fields that were set, so that the service's own defaults apply to other fields.
    """
    values = body.model_dump(exclude_unset=True) if isinstance(body, BaseModel) else body
    return json.dumps(values, ensure_ascii=False, default=_encodable).encode()


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _encodable(value: object) -> object:
    return value.get_secret_value() if isinstance(value, SecretStr) else to_jsonable_python(value)
