"""Dimension sets by name and version: the built-in sets, and the sets of users."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from spotthebot.fed.dimension_sets.domain.bipartite_dimensions import BIPARTITE
from spotthebot.fed.dimension_sets.domain.dimensions import DimensionSet
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED, FED_DIALOGUE, FED_TURN

BUILT_IN: Final = {each.name: each for each in (FED, FED_TURN, FED_DIALOGUE, BIPARTITE)}
"""The built-in sets by name; their version is 1."""


@dataclass(frozen=True)
class DimensionSetVersion:
    """A version of a dimension set; `created_at` is None if it is built in."""

    dimensions: DimensionSet
    version: int
    created_at: datetime | None = None


def built_in(name: str, version: int) -> DimensionSetVersion | None:
    """Return the built-in set with this name and version; None if there is none."""
    return DimensionSetVersion(BUILT_IN[name], 1) if name in BUILT_IN and version == 1 else None
