"""Reads the content of forms: documents for a service, amounts of money, and the key that detects a form sent twice."""

import re
from collections.abc import Mapping
from typing import Final, TypeVar, get_args
from uuid import UUID, uuid4

from pydantic import ValidationError

from spotthebot.contracts.wire import Wire
from spotthebot.kit.text.validation import reason_of

_Document = TypeVar("_Document", bound=Wire)
_CENTS_BEHIND_COMMA: Final = re.compile(r"\d+,\d{1,2}")


def kinds_of(union: object) -> dict[str, type[Wire]]:
    """Return the types of one of the API's unions by their `kind`, in the union's order."""
    types: tuple[type[Wire], ...] = get_args(get_args(union)[0])
    return {get_args(each.model_fields["kind"].annotation)[0]: each for each in types}


def as_typed(value: object) -> str:
    """Return the text of a form field for a value of a document. None and False become an empty text.

    >>> as_typed(0.5), as_typed((2, 3)), as_typed(True), as_typed(False), as_typed(None)
    ('0.5', '2, 3', 'on', '', '')
    """
    if value is None or value is False:
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(as_typed, value))
    if value is True:
        return "on"
    return f"{value:g}" if isinstance(value, float) else str(value)


def key_of(typed: Mapping[str, str]) -> str:
    """Return the idempotency key of a form: a form that is sent twice has the same key and takes effect once."""
    once = typed.get("once", "")
    try:
        return UUID(once).hex
    except ValueError:
        return uuid4().hex


def read_document(kind: type[_Document], typed: Mapping[str, str]) -> _Document | dict[str, str]:
    """Return the document made from the form's texts, or its faults by field. Empty texts are left out."""
    given = {name: text for name in kind.model_fields if (text := typed.get(name, "").strip())}
    if "amount" in given:
        given["amount"] = amount_of(given["amount"])
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        return {str(fault["loc"][0]) if fault["loc"] else "": reason_of(fault) for fault in reversed(error.errors())}


def amount_of(typed: str) -> str:
    """Return an amount with a decimal point. A comma before the last one or two digits becomes a point.

    >>> amount_of("1,50"), amount_of("1,500")
    ('1.50', '1,500')
    """
    return typed.replace(",", ".") if _CENTS_BEHIND_COMMA.fullmatch(typed) else typed
