"""Names in a declaration. They stand for resources that the services know by ids."""

import difflib
from collections.abc import Iterable
from uuid import UUID

from spotthebot.kit.text.characters import printable

_MAX_LISTED = 20


class UnknownName(Exception):
    """A name that stands for nothing, or for several things; says what to write instead."""


def listed(names: Iterable[str]) -> str:
    """Return names as a list for people, without repetitions.

    A very long list is cut, with the number of the others.
    """
    different = list(dict.fromkeys(map(printable, names)))
    more = f" and {len(different) - _MAX_LISTED} more" if len(different) > _MAX_LISTED else ""
    return ", ".join(different[:_MAX_LISTED]) + more


def is_id(name: str) -> bool:
    """Whether a text has the form of an id."""
    try:
        UUID(name)
    except ValueError:
        return False
    return True


def instead_of(name: str, there: Iterable[str], otherwise: str) -> str:
    """Return a suggestion for an unknown name.

    `there` are the known names; `otherwise` is the advice if no name is near.
    """
    known = list(there)
    if near := difflib.get_close_matches(name, known, n=1):
        return f"did you mean '{printable(near[0])}'?"
    quoted = (f"'{each}'" if " " in each else each for each in known)
    return f"name one of {listed(quoted)}, or {otherwise}." if known else f"{otherwise}."
