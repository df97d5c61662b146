"""A lease, which gives a package to an annotator: its states, and which state may follow which."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final
from uuid import UUID

from spotthebot.annotation.leases.errors import AssignmentExpired, AssignmentNotSubmitted, AssignmentSubmitted
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
"""The states that may follow each state; the conditions of the SQL come from here."""
COUNTED: Final = (AssignmentState.LEASED, AssignmentState.SUBMITTED, AssignmentState.REJECTED)
"""The states in which an assignment is one of the packages that its annotator may have."""
_LEAST_IDLE: Final = timedelta(hours=1)
"""Reading is work too."""
ENDED: Final = frozenset({AssignmentState.SUBMITTED, AssignmentState.REJECTED})
"""The states of work that was submitted, whether or not it counts."""


def longest_idle(lease: timedelta) -> timedelta:
    """Return for how long a package is kept whose annotator answers nothing: two leases, and an hour at least."""
    return max(2 * lease, _LEAST_IDLE)


def states_before(state: AssignmentState) -> tuple[AssignmentState, ...]:
    """Return the states from which an assignment may come to `state`."""
    return tuple(before for before, following in TRANSITIONS.items() if state in following)


@dataclass(frozen=True)
class Lease:
    """Who holds a package, and until when; a sign of life renews it for `lasts`, as the campaign says now."""

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
    lasts: timedelta

    def require_at_work(self, now: datetime) -> None:
        """Raise AssignmentSubmitted or AssignmentExpired unless answers can be saved."""
        if self.state in ENDED:
            raise AssignmentSubmitted
        if self.state is AssignmentState.EXPIRED or self.expires_at <= now:
            raise AssignmentExpired(expired_at=self.expires_at.isoformat(timespec="seconds"))

    def extended(self, now: datetime, lease: timedelta, answered_at: datetime | None) -> datetime:
        """Return until when a sign of life keeps a package, of which an answer was given at `answered_at`, if at all.

        Signs of life alone keep it no longer than `longest_idle` after an answer or the claim, and shorten nothing.
        """
        worked_at = max(self.leased_at, answered_at or self.leased_at)
        return max(self.expires_at, min(now + lease, worked_at + longest_idle(lease)))

    def require_submitted(self) -> None:
        """Raise AssignmentNotSubmitted unless there is work to reject, or it was rejected."""
        if self.state not in ENDED:
            raise AssignmentNotSubmitted


@dataclass(frozen=True)
class HeldLease:
    """The lease of a package that an annotator holds, and whether they answered anything in it."""

    id: AssignmentId
    package_id: UUID
    leased_at: datetime
    expires_at: datetime
    is_answered: bool
