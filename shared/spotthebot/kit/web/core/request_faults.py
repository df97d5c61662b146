"""Faults of a request that are found before FastAPI validates it; they are answered like those that it finds."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi.exceptions import RequestValidationError


@dataclass(frozen=True)
class Fault:
    """What is wrong where: the place is `("body", ...)` with a path into it, `("query", name)` or `("path", name)`."""

    place: tuple[str | int, ...]
    detail: str


def refuse(faults: Sequence[Fault], body: object = None) -> None:
    """Raise RequestValidationError if there are faults; a pointer into the body needs the body."""
    if faults:
        errors = [{"type": "value_error", "loc": fault.place, "msg": fault.detail} for fault in faults]
        raise RequestValidationError(errors, body=body)
