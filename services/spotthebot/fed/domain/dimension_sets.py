"""Sets of dimensions by name and version: those that are built in, and those of users."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from spotthebot.fed.domain.bipartite_dimensions import BIPARTITE
from spotthebot.fed.domain.dimensions import DimensionSet
from spotthebot.fed.domain.published_dimensions import FED, FED_DIALOGUE, FED_TURN

BUILT_IN: Final = {each.name: each for each in (FED, FED_TURN, FED_DIALOGUE, BIPARTITE)}
"""Their version is 1."""


@dataclass(frozen=True)
class DimensionSetVersion:
    """A version of a set; `created_at` is None where it is built in."""

    dimensions: DimensionSet
    version: int
    created_at: datetime | None = None


def built_in(name: str, version: int) -> DimensionSetVersion | None:
    """Return a set of ours."""
    return DimensionSetVersion(BUILT_IN[name], 1) if name in BUILT_IN and version == 1 else None
