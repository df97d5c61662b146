"""Names in a declaration, which stand for what the services know by ids."""

from collections.abc import Iterable
from uuid import UUID

_MAX_LISTED = 20


class UnknownName(Exception):
    """A name that stands for nothing, or for several things; says what to write instead."""


def listed(names: Iterable[str]) -> str:
    """Write names as a list for people: each once, and of very many the first."""
    different = list(dict.fromkeys(names))
    more = f" and {len(different) - _MAX_LISTED} more" if len(different) > _MAX_LISTED else ""
    return ", ".join(different[:_MAX_LISTED]) + more


def is_id(name: str) -> bool:
    """Whether a name is written as ids are."""
    try:
        UUID(name)
    except ValueError:
        return False
    return True
