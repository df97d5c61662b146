"""The reasons that a value is refused with, type by type."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import (
    AnyHttpUrl,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
)

from spotthebot.kit.text.validation import faults_of


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Pet(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str

    @field_validator("name")
    @classmethod
    def _is_named(cls, name: str) -> str:
        if not name.strip():
            message = "a pet needs a name: give it one"
            raise ValueError(message)
        return name


def _faults(kind: Any, document: str) -> list[str]:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_json(document)
    return faults_of(refused.value)


@pytest.mark.parametrize(
    ("kind", "document", "fault"),
    [
        (Pet, "{}", "name: is missing"),
        (Pet, '{"name": "Rex", "age": 3}', "age: is not known here: leave it out"),
        (Pet, '{"name": " "}', "name: a pet needs a name: give it one"),
        (Pet, '{"name": 3}', "name: must be a text"),
        (Pet, "[]", "must be an object"),
        (list[Pet], '[{"name": "Rex"}, {}]', "1/name: is missing"),
        (dict[str, int], "[]", "must be an object"),
        (int, '"many"', "must be a whole number"),
        (int, "1.5", "must be a whole number"),
        (int, "null", "must be a whole number"),
        (float, '"many"', "must be a number"),
        (Annotated[float, Field(allow_inf_nan=False)], "NaN", "must be a finite number"),
        (bool, '"perhaps"', "must be true or false"),
        (None, "3", "must be null"),
        (list[int], "3", "must be a list"),
        (tuple[int, ...], "3", "must be a list"),
        (frozenset[int], "3", "must be a list"),
        (Annotated[str, Field(min_length=2)], '"a"', "must have at least 2 characters"),
        (Annotated[str, Field(max_length=2)], '"abc"', "must have at most 2 characters"),
        (Annotated[str, Field(pattern="^a")], '"b"', "must match the pattern ^a"),
        (Annotated[list[int], Field(min_length=2)], "[1]", "must have at least 2, and has 1"),
        (Annotated[list[int], Field(max_length=2)], "[1, 2, 3]", "must have at most 2"),
        (Annotated[int, Field(gt=2)], "2", "must be greater than 2"),
        (Annotated[int, Field(ge=2)], "1", "must be at least 2"),
        (Annotated[int, Field(lt=2)], "2", "must be less than 2"),
        (Annotated[int, Field(le=2)], "3", "must be at most 2"),
        (Annotated[int, Field(multiple_of=2)], "3", "must be a multiple of 2"),
        (Colour, '"green"', "must be 'red' or 'blue'"),
        (Literal[1, 2], "3", "must be 1 or 2"),
        (UUID, '"x"', "must be a UUID"),
        (datetime, '"x"', "must be a date and time, such as 2026-01-31T12:00:00Z"),
        (AwareDatetime, '"2026-01-31T12:00:00"', "must name its time zone, such as 2026-01-31T12:00:00Z"),
        (AnyHttpUrl, '"x"', "must be a URL, such as https://example.org/path"),
        (AnyHttpUrl, '"ftp://example.org"', "must begin with 'http' or 'https'"),
        (
            Annotated[Cat | Dog, Field(discriminator="kind")],
            '{"kind": "cow"}',
            "must have one of 'cat', 'dog' as its 'kind', not 'cow'",
        ),
        (Annotated[Cat | Dog, Field(discriminator="kind")], "{}", "must name its 'kind'"),
        (bytes, "3", "must be a valid bytes"),
    ],
)
def test_a_fault_says_what_a_value_must_be(kind: Any, document: str, fault: str):
    assert _faults(kind, document) == [fault]


def test_all_faults_are_listed_each_with_its_place():
    assert _faults(dict[str, Pet], '{"a": {}, "b": {"name": 1}}') == ["a/name: is missing", "b/name: must be a text"]


def test_text_that_is_no_json_is_refused_with_where_it_ends_to_be_some():
    (fault,) = _faults(Pet, '{"name": ')
    assert fault.startswith("must be JSON: EOF while parsing a value at line 1 column 9")
