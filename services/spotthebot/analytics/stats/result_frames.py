"""Converts results to data frames by one rule: each field becomes a column."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import numpy as np

from spotthebot.statistics.errors import SettingOutOfRange

if TYPE_CHECKING:
    import pandas as pd


def to_dataframe(results: object) -> "pd.DataFrame":
    """Return the frame of a result, or of several results of one kind; raises `SettingOutOfRange` for anything else.

    Each result is a row, and each field is a column. A field that is a result itself becomes columns `field.its_field`.
    If the first field of a result is a list of results, such as the bots of a ranking, each of these has a row. The
    other fields of the outer result are repeated in each row, and named `all_field` if both have a field of this name.
    Further lists are left out; they have frames of their own, such as `to_dataframe(ranking.pairs)`. If all fields of a
    result are lists of the same length, as in a survival curve, each place in the lists has a row. Undefined numbers
    are missing values.

    >>> from spotthebot.analytics.stats import wilson_interval
    >>> frame = to_dataframe([wilson_interval(1, 2), wilson_interval(3, 4)])
    >>> frame["estimate"].tolist(), frame.columns[:3].tolist()
    ([0.5, 0.75], ['estimate', 'low', 'high'])
    """
    import pandas as pd  # noqa: PLC0415 - slow to import, and the service starts without it

    several = results if isinstance(results, list | tuple) else [results]
    for each in several:
        if not is_dataclass(each) or isinstance(each, type):
            raise SettingOutOfRange(
                setting="results", allowed="results of the statistics", value=f"of the type {type(each).__name__}"
            )
    return pd.DataFrame([row for each in several for row in _rows(each)])


def _rows(result: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any result
    values = {field.name: getattr(result, field.name) for field in fields(result)}
    lists = [name for name, value in values.items() if _is_list(value)]
    own = {key: value for name, value in values.items() if name not in lists for key, value in _cells(name, value)}
    if lists and lists[0] in _lists_of_results(type(result)):
        for member in values[lists[0]]:
            for row in _rows(member):
                yield row | {f"all_{key}" if key in row else key: value for key, value in own.items()}
    elif len(lists) > 1 and len({len(values[name]) for name in lists}) == 1:
        for place in range(len(values[lists[0]])):
            yield own | {key: value for name in lists for key, value in _cells(name, values[name][place])}
    else:
        yield {key: value for name, each in values.items() for key, value in _cells(name, each)}


def _cells(name: str, value: object) -> Iterator[tuple[str, Any]]:
    """Yield the columns of one field with their values."""
    if is_dataclass(value) and not isinstance(value, type):
        nested = _lists_of_results(type(value))
        for field in fields(value):
            if field.name not in nested:
                yield from _cells(f"{name}.{field.name}", getattr(value, field.name))
    elif isinstance(value, IntEnum):
        yield name, value.name.lower()
    elif isinstance(value, StrEnum):
        yield name, value.value
    else:
        yield name, value.item() if isinstance(value, np.generic) else value


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


def _lists_of_results(kind: type) -> frozenset[str]:
    """Return the names of the fields that hold any number of other results."""
    hints = get_type_hints(kind)
    return frozenset(
        name
        for name, hint in hints.items()
        if get_origin(hint) is tuple and is_dataclass(get_args(hint)[0]) and get_args(hint)[-1] is ...
    )
