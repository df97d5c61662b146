"""The lease of a package to an annotator, its states, and the order of the states."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final
from uuid import UUID

from spotthebot.annotation.leases.errors import (
    AssignmentExpired,
    AssignmentNotSubmitted,
    AssignmentSubmitted,
    HasNoLabels,
    SubmitsWithLabels,
)
from spotthebot.contracts.annotation.assignments import AssignmentId, AssignmentState
from spotthebot.contracts.annotation.campaigns import CampaignId

TRANSITIONS: Final[Mapping[AssignmentState, frozenset[AssignmentState]]] = MappingProxyType(
    {
        AssignmentState.LEASED: frozenset({AssignmentState.SUBMITTED, AssignmentState.EXPIRED}),
        AssignmentState.EXPIRED: frozenset({AssignmentState.LEASED}),
        AssignmentState.SUBMITTED: frozenset({AssignmentState.REJECTED}),
        AssignmentState.REJECTED: frozenset(),
    }
)
"""The states that may follow each state; SQL conditions are made from this table."""
COUNTED: Final = (AssignmentState.LEASED, AssignmentState.SUBMITTED, AssignmentState.REJECTED)
"""The states in which an assignment counts against its annotator's limit of packages."""
_LEAST_IDLE: Final = timedelta(hours=1)
"""The least time without an answer, because reading is work too."""
ENDED: Final = frozenset({AssignmentState.SUBMITTED, AssignmentState.REJECTED})
"""The states of submitted work, whether or not it counts."""


def longest_idle(lease: timedelta) -> timedelta:
    """Return how long a package without answers is kept for its annotator: two leases, but at least an hour."""
    return max(2 * lease, _LEAST_IDLE)


def states_before(state: AssignmentState) -> tuple[AssignmentState, ...]:
    """Return the states from which an assignment may reach `state`."""
    return tuple(before for before, following in TRANSITIONS.items() if state in following)


@dataclass(frozen=True)
class Lease:
    """The annotator of a package, and the end of the lease.

    A sign of life renews the lease for the duration `lasts`, which the campaign sets. The lease of a judge takes no
    slot of its package.
    """

    id: AssignmentId
    campaign_id: CampaignId
    package_id: UUID
    annotator_id: UUID
    state: AssignmentState
    leased_at: datetime
    expires_at: datetime
    heard_at: datetime | None
    heard_position: int | None
    submitted_at: datetime | None
    completion_code: str | None
    takes_slot: bool
    lasts: timedelta

    def require_at_work(self, now: datetime) -> None:
        """Raise AssignmentSubmitted or AssignmentExpired unless answers can be saved."""
        if self.state in ENDED:
            raise AssignmentSubmitted
        if self.state is AssignmentState.EXPIRED or self.expires_at <= now:
            raise AssignmentExpired(ended_at=self.expires_at.isoformat(timespec="seconds"))

    def extended(self, now: datetime, lease: timedelta, answered_at: datetime | None) -> datetime:
        """Return the end of a lease after a sign of life; `answered_at` is the time of the last answer, if any.

        The end is at most `longest_idle` after the last answer, or after the claim if there is no answer. It is never
        earlier than the present end.
        """
        worked_at = max(self.leased_at, answered_at or self.leased_at)
        return max(self.expires_at, min(now + lease, worked_at + longest_idle(lease)))

    def require_person(self) -> None:
        """Raise SubmitsWithLabels if a judge holds the package."""
        if not self.takes_slot:
            raise SubmitsWithLabels

    def require_judge(self) -> None:
        """Raise HasNoLabels unless a judge holds the package."""
        if self.takes_slot:
            raise HasNoLabels

    def require_submitted(self) -> None:
        """Raise AssignmentNotSubmitted unless the assignment was submitted or rejected."""
        if self.state not in ENDED:
            raise AssignmentNotSubmitted


@dataclass(frozen=True)
class HeldLease:
    """The lease of a package that an annotator holds, and whether the annotator answered any item."""

    id: AssignmentId
    package_id: UUID
    leased_at: datetime
    expires_at: datetime
    is_answered: bool
