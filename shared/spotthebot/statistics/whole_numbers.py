"""Whole numbers from a caller, of Python's type or of numpy's."""

from numbers import Integral


def is_whole(value: object, least: int, most: float = float("inf")) -> bool:
    """Return whether the value is a whole number from `least` to `most`. The float 1.0 is not a whole number here.

    >>> is_whole(3, 1, 5), is_whole(3.0, 1, 5), is_whole("3", 1, 5), is_whole(None, 1, 5)
    (True, False, False, False)
    """
    return isinstance(value, Integral) and least <= int(value) <= most
