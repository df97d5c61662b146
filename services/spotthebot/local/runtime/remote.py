"""Services that run elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Remote:
    """Services behind one address, and the API key for them. There is no data folder."""

    url: str
    urls: Mapping[str, str]
    """By the names of the services."""
    key: str = field(repr=False)
    frontend_key: str = field(default="", repr=False)
    """The key of a frontend (role `annotation`), for commands that also act as a frontend; empty without one."""
