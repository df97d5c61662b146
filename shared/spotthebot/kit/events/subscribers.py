"""Defines which callers, in addition to the operator, may subscribe to the events of a service."""

from collections.abc import Callable
from dataclasses import dataclass

from spotthebot.kit.access.keys import Principal
from spotthebot.kit.events.errors import TeamKeyWithoutTeam

OPERATOR = "admin"
"""The role that sees all events and subscriptions."""


@dataclass(frozen=True)
class Subscribers:
    """A role whose keys may subscribe to their own events. `team_of` returns the team of a key."""

    role: str
    team_of: Callable[[Principal], str]

    def team(self, caller: Principal) -> str | None:
        """Return the team on whose behalf a caller acts.

        It is None for the operator, even if the operator's key names a team.
        """
        return None if caller.role == OPERATOR else self.team_of(caller)


def _named_team(caller: Principal) -> str:
    if caller.team is None:
        raise TeamKeyWithoutTeam
    return caller.team


TEAMS = Subscribers("team", _named_team)
"""Callers with the role `team`, under the team's name in their keys."""
