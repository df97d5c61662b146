"""The Arrow schema of a wire schema, derived, so that a column can't be forgotten or typed differently."""

import types
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin
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
    """Return the columns of a wire schema: one by field, models as structs, tuples as lists, ids as text.

    Raises TypeError for a field whose JSON has no fixed type.
    """
    return pa.schema(_fields(model))


def _fields(model: type[BaseModel]) -> list[pa.Field]:
    return [pa.field(name, _arrow_type(field.annotation)) for name, field in model.model_fields.items()]


def _arrow_type(wire: Any) -> pa.DataType:  # noqa: ANN401 - an annotation
    if wire in _PLAIN:
        return _PLAIN[wire]
    if _is_text(wire):
        return pa.string()
    if isinstance(wire, type) and issubclass(wire, BaseModel):
        return pa.struct(_fields(wire))
    origin, arguments = get_origin(wire), get_args(wire)
    if origin is Annotated:
        return _arrow_type(arguments[0])
    inner = {each for each in arguments if each not in {..., types.NoneType}}
    if origin not in {tuple, Union, types.UnionType} or len(inner) != 1:
        message = f"{wire} has no Arrow type"
        raise TypeError(message)
    return pa.list_(_arrow_type(inner.pop())) if origin is tuple else _arrow_type(inner.pop())


def _is_text(wire: Any) -> bool:  # noqa: ANN401 - an annotation
    if get_origin(wire) is Literal:
        return all(isinstance(each, str) for each in get_args(wire))
    return isinstance(wire, type) and issubclass(wire, StrEnum)
