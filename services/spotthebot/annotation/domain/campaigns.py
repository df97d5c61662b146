"""A campaign, its states, and which state may follow which."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final
from uuid import UUID

from spotthebot.annotation.domain.errors import CampaignNotOpen
from spotthebot.contracts.annotation import CampaignId, CampaignState

TRANSITIONS: Final[Mapping[CampaignState, frozenset[CampaignState]]] = MappingProxyType(
    {
        CampaignState.BUILDING: frozenset({CampaignState.OPEN, CampaignState.COMPLETE, CampaignState.FAILED}),
        CampaignState.OPEN: frozenset({CampaignState.COMPLETE}),
        CampaignState.COMPLETE: frozenset(),
        CampaignState.FAILED: frozenset(),
    }
)
"""The states that may follow each state; the conditions of the SQL come from here."""


def states_before(state: CampaignState) -> tuple[CampaignState, ...]:
    """Return the states from which a campaign may come to `state`."""
    return tuple(before for before, following in TRANSITIONS.items() if state in following)


@dataclass(frozen=True)
class Progress:
    """How much a campaign holds, and how much of it is done."""

    packages: int
    segments: int
    annotations: int
    complete_assignments: int


@dataclass(frozen=True)
class Campaign:
    """The annotation of a collection's conversations; `failure` says why one in state FAILED has no packages.

    `too_short` conversations are not shown; None where that was not counted, as in imports.
    """

    id: CampaignId
    name: str
    domain: str
    collection_id: UUID
    mode: str
    segments: tuple[int, ...]
    annotations_per_segment: int
    package_size: int
    instructions: str
    seed: int
    created_at: datetime
    state: CampaignState
    failure: str | None
    too_short: int | None
    progress: Progress

    @property
    def is_fully_annotated(self) -> bool:
        """Whether as many annotators completed each package as it needs; an import is complete when it is closed."""
        needed = self.progress.packages * self.annotations_per_segment
        return self.mode == "live" and self.progress.complete_assignments >= needed

    def require_open(self) -> None:
        """Raise CampaignNotOpen unless packages can be claimed."""
        if self.state is not CampaignState.OPEN:
            raise CampaignNotOpen(name=self.name, state=self.state)
