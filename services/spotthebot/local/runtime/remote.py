"""Services that run elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Remote:
    """Services behind one address, and the key to use there; no data folder is read for them, and none made."""

    url: str
    urls: Mapping[str, str]
    """By the names of the services."""
    key: str = field(repr=False)
    frontend_key: str = field(default="", repr=False)
    """The key of a frontend of annotators (role `annotation`), for commands that also act as one; empty for none."""
