"""Reads a caller's columns of numbers and names. An error names the row of a missing value, and no digit is lost.

numpy turns a list of words and numbers into words. It turns integers beyond 2**53 into floating-point numbers, so that
different integers become equal. So lists are read element by element, unless they hold only integers.
"""

import math
import numbers
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from spotthebot.statistics.errors import ColumnMalformed

_EXACT = "iub"
"""Kinds of numpy's types whose values are whole numbers."""
_NAN_AS_TEXT = "nan"
"""What numpy makes of NaN in an array of texts."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A column (n,) as codes.

    A code is the index of a value in `values`, which are distinct; -1 if the value is missing.

    `values` are in ascending order if they can be compared.
    """

    values: list[Any]
    code: npt.NDArray[np.int64]


def read_numbers(column: npt.ArrayLike, name: str, *, finite: bool = False) -> npt.NDArray[np.float64]:
    """Return numbers of any shape, with NaN for None and other missing values.

    A text such as "3.5" counts as a number. Raises ColumnMalformed for anything else, and for NaN and infinity if
    `finite`.

    >>> read_numbers([1, None, "2.5"], "rating").tolist()
    [1.0, nan, 2.5]
    """
    found = _elements(column, name)
    if found.dtype.kind in "iubf":
        read = found.astype(np.float64)
    else:
        flat = [_number(value, name, row) for row, value in enumerate(found.ravel().tolist())]
        read = np.array(flat, dtype=np.float64).reshape(found.shape)
    if finite and not np.all(np.isfinite(read)):
        place = np.argwhere(~np.isfinite(read))[0]
        raise ColumnMalformed(column=name, row=int(place[0]) if len(place) else 0, fault="holds no finite number")
    return read


def read_codes(column: npt.ArrayLike, name: str, *, missing: bool = False) -> Coded:
    """Return a column (n,) of names or numbers as codes.

    Raises ColumnMalformed for a missing value, unless `missing` is true; a missing value then has the code -1. In
    numpy's arrays of texts, "nan" is a missing value, as numpy writes NaN so.

    >>> coded = read_codes(["b", "a", None], "annotator", missing=True)
    >>> coded.values, coded.code.tolist()
    (['a', 'b'], [1, 0, -1])
    """
    found = _elements(column, name)
    if found.ndim != 1:
        raise ColumnMalformed(column=name, row=0, fault=f"is of shape {found.shape}, not a column of single values")
    if found.dtype.kind == "U" and np.any(found == _NAN_AS_TEXT):
        texts = found.astype(object)
        texts[found == _NAN_AS_TEXT] = None
        found = texts
    if found.dtype.kind in "iubfU":
        absent = np.isnan(found) if found.dtype.kind == "f" else np.zeros(len(found), dtype=bool)
        if not missing:
            _require_none(absent, name)
        code = np.full(len(found), -1, dtype=np.int64)
        values, code[~absent] = np.unique(found[~absent], return_inverse=True)
        return Coded(values.tolist(), code)
    rows = found.tolist()
    absent = np.array([is_missing(value) for value in rows], dtype=bool)
    if not missing:
        _require_none(absent, name)
    distinct: dict[Hashable, int] = {}
    code = np.full(len(rows), -1, dtype=np.int64)
    for row, value in enumerate(rows):
        if absent[row]:
            continue
        try:
            code[row] = distinct.setdefault(value, len(distinct))
        except TypeError:
            raise ColumnMalformed(column=name, row=row, fault=f"{value!r:.60} is not one value") from None
    order = _ascending(list(distinct))
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[[distinct[value] for value in order]] = np.arange(len(order))
    place[-1] = -1
    return Coded(order, place[code])


def _require_none(absent: npt.NDArray[np.bool_], name: str) -> None:
    if absent.any():
        raise ColumnMalformed(column=name, row=int(np.argmax(absent)), fault="is missing")


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN of any type, or pandas' NA or NaT. pandas is not imported for this.

    >>> [is_missing(each) for each in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, Decimal):  # a signalling NaN may not even be compared
        return value.is_nan()
    return isinstance(value, numbers.Number | np.datetime64) and value != value  # noqa: PLR0124 - NaN alone


def require_present(column: Sequence[object], name: str) -> None:
    """Raise ColumnMalformed if a row of a column of names is missing; the error names the first such row.

    >>> require_present(["a", 1, ("b", 2)], "group")
    """
    for row, value in enumerate(column):
        if is_missing(value):
            raise ColumnMalformed(column=name, row=row, fault="is missing")


def unit_of(values: npt.NDArray[np.float64]) -> float:
    """Return the power of two just above the largest absolute value. Dividing by it does not round.

    >>> unit_of(np.array([3.0, -5.0, np.nan])), unit_of(np.zeros(2))
    (8.0, 1.0)
    """
    known = np.abs(values[np.isfinite(values)])
    largest = float(known.max(initial=0.0))
    return math.ldexp(1.0, min(math.frexp(largest)[1], 1023)) if largest > 0 else 1.0


def as_exact_number(value: object, name: str, row: int) -> int | float:
    """Return a value as a number without losing digits. A text such as "3.5" counts as a number.

    Raises ColumnMalformed for other texts.
    """
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass
    elif isinstance(value, numbers.Integral):
        return int(value)
    return _number(value, name, row)


def _elements(column: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    if isinstance(column, np.ma.MaskedArray):
        known: npt.NDArray[Any] = np.array(column.data, dtype=object)
        known[np.ma.getmaskarray(column)] = None
        return known
    try:
        found = np.asarray(column)
        if found.dtype.kind in _EXACT or (hasattr(column, "dtype") and found.dtype.kind in "fU"):
            return found
        return np.asarray(column, dtype=object)
    except (TypeError, ValueError, OverflowError) as error:
        raise ColumnMalformed(column=name, row=0, fault="is not a column of single values") from error


def _number(value: object, name: str, row: int) -> float:
    if is_missing(value):
        return math.nan
    try:
        if isinstance(value, str | numbers.Real) or hasattr(value, "__float__"):
            return float(value)
    except (TypeError, ValueError):
        pass
    except OverflowError:
        raise ColumnMalformed(column=name, row=row, fault="is too large a number") from None
    raise ColumnMalformed(column=name, row=row, fault=f"{value!r:.60} is not a number")


def _ascending(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:  # words among numbers: any order that is independent of the rows' order
        return sorted(values, key=lambda value: (type(value).__name__, repr(value)))
