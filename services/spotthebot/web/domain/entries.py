"""How people come to annotate, and which page they see where there is no package for them."""

from collections.abc import Iterable, Mapping
from typing import Final

from spotthebot.contracts.annotation.panels import ENTRY_PARAMETER

_MAX_PARAMETERS: Final = 50
_LONGEST_NAME: Final = 100
_LONGEST_VALUE: Final = 500

STATES_OF_REFUSALS: Final[Mapping[str, str]] = {
    "closed": "over",
    "limit-reached": "all_done",
    "nothing-left": "nothing_left",
    "blocked": "blocked",
    "training-failed": "training_failed",
    "entry-link-revoked": "link_revoked",
}
"""The page that a refused claim leads to, by the name of the problem."""
STATES_OF_CAMPAIGNS: Final[Mapping[str, str]] = {"paused": "paused", "draft": "not_open", "building": "not_open"}
"""The page of a campaign that is closed for claims, by its state; all others are over."""
CAN_APPEAL: Final = frozenset({"blocked", "training_failed"})
"""Pages on which a person may leave a note."""


def entry_parameters(query: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the parameters of an entry link, as the service `annotation` takes them.

    Others add parameters of their own to links: those that are too long, or too many, are left out, never the token.
    """
    fitting = {
        name: value
        for name, value in query
        if len(name) <= _LONGEST_NAME and len(value) <= _LONGEST_VALUE and "\0" not in name + value
    }
    token = {name: value for name, value in fitting.items() if name == ENTRY_PARAMETER}
    return token | dict(list(fitting.items())[: _MAX_PARAMETERS - 1])


def state_of_refusal(refusal: str, campaign_state: str) -> str:
    """Return which page is shown to a person whose claim was refused, given the state of the campaign."""
    if refusal == "closed":
        return STATES_OF_CAMPAIGNS.get(campaign_state, STATES_OF_REFUSALS[refusal])
    return STATES_OF_REFUSALS[refusal]
