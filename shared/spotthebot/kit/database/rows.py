"""Makes domain objects from rows of the database."""

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")


def from_row(record: type[Record], row: object, /, **other: Any) -> Record:  # noqa: ANN401 - values of any field
    """Make a record. Its fields come from the columns of the row with the same names, and from `other`.

    A missing column raises AttributeError, which names the column.
    """
    return record(**{name: getattr(row, name) for name in record.__dataclass_fields__ if name not in other}, **other)
