"""Turns the faults that pydantic finds into sentences that say which value to give instead."""

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

_TEXT: Final = "must be a text"
_WHOLE_NUMBER: Final = "must be a whole number"
_NUMBER: Final = "must be a number"
_TRUTH: Final = "must be true or false"
_LIST: Final = "must be a list"
_OBJECT: Final = "must be an object"
_UUID: Final = "must be a UUID"
_MOMENT: Final = "must be a date and time, such as 2026-01-31T12:00:00Z"
_URL: Final = "must be a URL, such as https://example.org/path"
_REASONS: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "missing_argument": "is missing",
    "extra_forbidden": "is not known here: leave it out",
    "none_required": "must be null",
    "string_type": _TEXT,
    "string_unicode": "must be a text of valid characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "int_type": _WHOLE_NUMBER,
    "int_parsing": _WHOLE_NUMBER,
    "int_from_float": _WHOLE_NUMBER,
    "int_parsing_size": "must be a number of fewer digits",
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "decimal_type": _NUMBER,
    "decimal_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "list_type": _LIST,
    "tuple_type": _LIST,
    "set_type": _LIST,
    "frozen_set_type": _LIST,
    "iterable_type": _LIST,
    "too_short": "must have at least {min_length}, and has {actual_length}",
    "too_long": "must have at most {max_length}",
    "dict_type": _OBJECT,
    "mapping_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "union_tag_invalid": "must have one of {expected_tags} as its {discriminator}, not '{tag}'",
    "union_tag_not_found": "must name its {discriminator}",
    "uuid_type": _UUID,
    "uuid_parsing": _UUID,
    "uuid_version": _UUID,
    "datetime_type": _MOMENT,
    "datetime_parsing": _MOMENT,
    "datetime_object_invalid": _MOMENT,
    "datetime_from_date_parsing": _MOMENT,
    "timezone_aware": "must name its time zone, such as 2026-01-31T12:00:00Z",
    "url_type": _URL,
    "url_parsing": _URL,
    "url_syntax_violation": _URL,
    "url_scheme": "must begin with {expected_schemes}",
    "json_invalid": "must be JSON: {error}",
    "json_type": "must be JSON",
    "recursion_loop": "must not be nested so deeply",
    "recursion_depth_exceeded": "must not be nested so deeply",
}
_OTHER: Final = re.compile(r"^[A-Z][\w ]*? should ")
"""The beginning of pydantic's messages: 'Input should be ...'."""


def reason_of(fault: Mapping[str, Any]) -> str:
    """Return why pydantic refused a value, such as 'must be a whole number'. `fault` is an item of `errors()`.

    If a validator of ours refused the value, its own words are returned.
    """
    given = fault.get("ctx", {})
    kind = fault["type"]
    if kind in {"value_error", "assertion_error"} and "error" in given:
        return str(given["error"])
    if kind in _REASONS:
        return _REASONS[kind].format_map(_Known(given))
    return _OTHER.sub("must ", str(fault["msg"]))


def faults_of(error: ValidationError, *, separator: str = "/") -> list[str]:
    """Return each fault with the place of its value, such as 'turns/0/text: must be a text'."""
    return [
        ": ".join(part for part in (separator.join(map(str, fault["loc"])), reason_of(fault)) if part)
        for fault in error.errors(include_url=False, include_input=False)
    ]


class _Known(dict[str, Any]):
    """The limits that a fault names. The name of a limit replaces a limit that the fault does not name."""

    def __missing__(self, name: str) -> str:
        return name.replace("_", " ")
