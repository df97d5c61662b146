"""The actions whose confirmation contains a warning."""

from typing import Final

GRAVE: Final = frozenset(
    {"close", "delete", "release", "publish", "cancel", "finish", "block", "reject", "erase", "revoke"}
)
"""Actions that can't be undone, or that other people notice."""
