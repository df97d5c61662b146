"""Who may subscribe to the events of a service, beside the operator."""

from collections.abc import Callable
from dataclasses import dataclass

from spotthebot.kit.access.keys import Principal
from spotthebot.kit.events.errors import TeamKeyWithoutTeam

OPERATOR = "admin"
"""The role that sees all events and subscriptions."""


@dataclass(frozen=True)
class Subscribers:
    """A role whose keys subscribe to events of their own, and the team that each key belongs to by its name."""

    role: str
    team_of: Callable[[Principal], str]

    def team(self, caller: Principal) -> str | None:
        """Return the team that a caller acts for; None for the operator, whatever team its key names."""
        return None if caller.role == OPERATOR else self.team_of(caller)


def _named_team(caller: Principal) -> str:
    if caller.team is None:
        raise TeamKeyWithoutTeam
    return caller.team


TEAMS = Subscribers("team", _named_team)
"""Teams, by the name in their keys."""
