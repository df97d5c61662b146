"""Revisions of stored rows: texts that change whenever a row is added, changed or deleted.

They are computed from the rows, so no writer has to raise a number, and writers never wait for each other.
"""

from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, func


def sum_of_hashes(record: ColumnElement[Any]) -> ColumnElement[Decimal]:
    """Return the sum of the hashes of rows, 0 without rows. It does not depend on their order.

    `record` is a table's name as a column, for the whole row, or `func.row(...)` of some columns.
    """
    return func.coalesce(func.sum(func.hash_record_extended(record, 0)), 0)


def revision_of(count: int, *sums: Decimal | int) -> str:
    """Return a revision as text: the count that a reader sees, and the sums without their higher bits.

    >>> revision_of(2, 10, 5)
    '2-000000000000000f'
    """
    return f"{count}-{sum(map(int, sums)) % 2**64:016x}"
