"""Helps to name things in error messages: the most similar known name, or a list of known names."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

_MAX_LISTED: Final = 10
_MAX_NAME: Final = 100
_UNLIKE_A_WORD: Final = re.compile(r"(?=.*[0-9]).{8,}", re.DOTALL)


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return the end of an error message about an unknown name: the most similar known name, or all known names.

    >>> suggestion("autum", ["autumn", "spring"])
    "the nearest is 'autumn'"
    >>> suggestion("x", ["autumn", "spring"])
    "there are 'autumn', 'spring'"
    >>> suggestion("x", ["autumn"])
    "there is 'autumn' alone"
    >>> suggestion("x", [])
    'there are none yet'
    """
    if not known:
        return "there are none yet"
    if nearest := get_close_matches(name[:_MAX_NAME], known, n=1):
        return f"the nearest is '{nearest[0]}'"
    if len(known) == 1:
        return f"there is '{known[0]}' alone"
    return f"there are {listed(known)}"


def listed(names: Sequence[str]) -> str:
    """Return the first ten names as part of a sentence, and how many more there are.

    >>> listed(["autumn", "spring"])
    "'autumn', 'spring'"
    >>> listed([str(number) for number in range(12)])
    "'0', '1', '2', '3', '4', '5', '6', '7', '8', '9' and 2 more"
    """
    first = ", ".join(f"'{each}'" for each in names[:_MAX_LISTED])
    more = len(names) - _MAX_LISTED
    return f"{first} and {more} more" if more > 0 else first


def is_unlike_a_word(name: str) -> bool:
    """Return whether a person's id is too unusual to appear in texts about other people: it is long, and has a digit.

    Some panels let people choose ids such as `fast` or `1`. The erasure of such a person must not erase other texts.
    """
    return _UNLIKE_A_WORD.fullmatch(name) is not None
