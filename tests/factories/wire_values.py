"""Wire values beside an independent statement of each of their fields."""

import json
from typing import Any, TypeVar

import psycopg
from psycopg.rows import dict_row
from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)


def assert_is(wire: type[Model], found: Model | dict[str, Any], stated: dict[str, Any]) -> None:
    """Assert that a value, or an answer that holds one, is as stated; `stated` names every field of the type."""
    read = found if isinstance(found, wire) else wire.model_validate_json(json.dumps(found))
    assert read == wire.model_validate(stated)
    assert set(stated) == set(wire.model_fields)


def select(url: str, query: str, *parameters: object) -> list[dict[str, Any]]:
    """Return the rows that a query finds, as dictionaries by the names that the query gives their columns."""
    with psycopg.connect(url, row_factory=dict_row) as connection:
        return connection.execute(query.encode(), parameters).fetchall()
