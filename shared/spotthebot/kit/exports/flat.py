"""Rows without nesting, for tables of numbers. Each field of a nested schema becomes a column of its own."""

from collections.abc import Iterator
from functools import cache
from types import NoneType
from typing import Any, cast, get_args, get_type_hints

from pydantic import BaseModel, create_model


@cache
def flat_schema(schema: type[BaseModel]) -> type[BaseModel]:
    """Return a schema in which each nested field is a column: `interval.low` becomes `interval_low`.

    If a nested field may be null, its columns may be null as well.
    """
    columns: dict[str, Any] = {name: (hint, ...) for name, hint in _columns(schema, optional=False)}
    return cast("type[BaseModel]", create_model(f"Flat{schema.__name__}", **columns))


def flat_row(row: BaseModel) -> BaseModel:
    """Return a row converted to the `flat_schema` of its schema."""
    return flat_schema(type(row)).model_construct(**dict(_cells(type(row), row)))


def _columns(schema: type[BaseModel], *, optional: bool) -> Iterator[tuple[str, Any]]:
    hints = get_type_hints(schema)
    for name in schema.model_fields:
        nested, may_be_null = _nested(hints[name])
        if nested is not None:
            yield from ((f"{name}_{each}", hint) for each, hint in _columns(nested, optional=optional or may_be_null))
        else:
            yield name, hints[name] | None if optional else hints[name]


def _cells(schema: type[BaseModel], row: BaseModel | None) -> Iterator[tuple[str, Any]]:
    hints = get_type_hints(schema)
    for name in schema.model_fields:
        value = None if row is None else getattr(row, name)
        nested, _ = _nested(hints[name])
        if nested is None:
            yield name, value
        else:
            yield from ((f"{name}_{each}", cell) for each, cell in _cells(nested, value))


def _nested(hint: Any) -> tuple[type[BaseModel] | None, bool]:  # noqa: ANN401 - a type hint
    """Return the nested schema of a field, or None, and also whether the field may be null."""
    members = [each for each in get_args(hint) if each is not NoneType]
    if len(members) == 1 and NoneType in get_args(hint):
        return _nested(members[0])[0], True
    return (hint, False) if isinstance(hint, type) and issubclass(hint, BaseModel) else (None, False)
