"""Checked values of a row. MongoDB writes ids and long numbers as objects (Extended JSON v2)."""

import re
from collections.abc import Mapping

from spotthebot.readers.rejected import FieldFault

_OBJECT_ID = re.compile(r"[0-9a-f]{24}")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,19}")


def object_of(content: Mapping[str, object], key: str) -> dict[str, object]:
    """Return a nested object."""
    value = _value(content, key)
    if not isinstance(value, dict):
        raise FieldFault(reason=f"{key} is not an object")
    return value


def list_of_objects(content: Mapping[str, object], key: str) -> list[dict[str, object]]:
    """Return the objects of a list that must not be empty."""
    value = _value(content, key)
    if not isinstance(value, list) or not value:
        raise FieldFault(reason=f"{key} must be a list with at least one item")
    if not all(isinstance(item, dict) for item in value):
        raise FieldFault(reason=f"{key} must hold objects only")
    return value


def object_id(content: Mapping[str, object], key: str) -> str:
    """Return 24 hexadecimal digits, given directly or as {"$oid": ...}."""
    value = _value(content, key)
    digits = value.get("$oid") if isinstance(value, dict) else value
    if not isinstance(digits, str) or not _OBJECT_ID.fullmatch(digits):
        raise FieldFault(reason=f"{key} is not an object id")
    return digits


def integer(content: Mapping[str, object], key: str) -> int:
    """Return a whole number, given directly or as {"$numberLong": "..."} or {"$numberInt": "..."}."""
    value = _value(content, key)
    if isinstance(value, dict):
        digits = value.get("$numberLong", value.get("$numberInt"))
        if isinstance(digits, str) and _WHOLE_NUMBER.fullmatch(digits):
            return int(digits)
    elif isinstance(value, int) and not isinstance(value, bool):
        return value
    raise FieldFault(reason=f"{key} is not a whole number")


def flag(content: Mapping[str, object], key: str) -> bool:
    """Return a boolean."""
    value = _value(content, key)
    if not isinstance(value, bool):
        raise FieldFault(reason=f"{key} must be true or false")
    return value


def flag_or_null(content: Mapping[str, object], key: str) -> bool | None:
    """Return a boolean, or None for an explicit null; a missing key is a fault."""
    return None if _value(content, key) is None else flag(content, key)


def text(content: Mapping[str, object], key: str) -> str:
    """Return a text that a database can store; it may be empty."""
    value = _value(content, key)
    if not isinstance(value, str):
        raise FieldFault(reason=f"{key} is not a text")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise FieldFault(reason=f"{key} holds a null character or half a surrogate pair")
    return value


def name(content: Mapping[str, object], key: str) -> str:
    """Return a non-blank text."""
    value = text(content, key)
    if not value.strip():
        raise FieldFault(reason=f"{key} is empty")
    return value


def _value(content: Mapping[str, object], key: str) -> object:
    if key not in content:
        raise FieldFault(reason=f"{key} is missing")
    return content[key]
