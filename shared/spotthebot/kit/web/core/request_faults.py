"""Faults of a request that we find before FastAPI validates it. They are answered like FastAPI's own faults."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi.exceptions import RequestValidationError


@dataclass(frozen=True)
class Fault:
    """A fault and its place: `("body", ...)` with a path into the body, `("query", name)` or `("path", name)`."""

    place: tuple[str | int, ...]
    detail: str


def refuse(faults: Sequence[Fault], body: object = None) -> None:
    """Raise RequestValidationError if there are faults. Faults with a path into the body need `body`."""
    if faults:
        errors = [{"type": "value_error", "loc": fault.place, "msg": fault.detail} for fault in faults]
        raise RequestValidationError(errors, body=body)
