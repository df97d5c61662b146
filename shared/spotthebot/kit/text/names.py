"""Names in sentences: the nearest to one that nothing has, or those that there are."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

_MAX_LISTED: Final = 10
_MAX_NAME: Final = 100


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return the words for the end of a refusal's sentence.

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
    """Return the first ten names for a sentence, and how many more there are.

    >>> listed(["autumn", "spring"])
    "'autumn', 'spring'"
    >>> listed([str(number) for number in range(12)])
    "'0', '1', '2', '3', '4', '5', '6', '7', '8', '9' and 2 more"
    """
    first = ", ".join(f"'{each}'" for each in names[:_MAX_LISTED])
    more = len(names) - _MAX_LISTED
    return f"{first} and {more} more" if more > 0 else first
