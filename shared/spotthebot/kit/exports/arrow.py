"""Derives the Arrow schema from a pydantic schema, so that both have the same columns with the same types."""

import types
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import pyarrow as pa
from pydantic import AwareDatetime, BaseModel

_PLAIN: dict[Any, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    UUID: pa.string(),
    datetime: pa.timestamp("us", tz="UTC"),
    AwareDatetime: pa.timestamp("us", tz="UTC"),
}


@cache
def arrow_schema(model: type[BaseModel]) -> pa.Schema:
    """Return the columns of a schema, one for each field. Models become structs, tuples become lists, ids become text.

    Raises TypeError for a field whose JSON has no fixed type.
    """
    return pa.schema(_fields(model))


def _fields(model: type[BaseModel]) -> list[pa.Field]:
    hints = get_type_hints(model, include_extras=True)
    return [pa.field(name, _arrow_type(hints[name])) for name in model.model_fields]


def _arrow_type(hint: Any) -> pa.DataType:  # noqa: ANN401 - a type hint
    if hint in _PLAIN:
        return _PLAIN[hint]
    if _is_text(hint):
        return pa.string()
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return pa.struct(_fields(hint))
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _arrow_type(arguments[0])
    inner = {each for each in arguments if each not in {..., types.NoneType}}
    if origin not in {tuple, Union, types.UnionType} or len(inner) != 1:
        message = f"{hint} has no Arrow type"
        raise TypeError(message)
    return pa.list_(_arrow_type(inner.pop())) if origin is tuple else _arrow_type(inner.pop())


def _is_text(hint: Any) -> bool:  # noqa: ANN401 - a type hint
    if get_origin(hint) is Literal:
        return all(isinstance(each, str) for each in get_args(hint))
    return isinstance(hint, type) and issubclass(hint, StrEnum)
