"""The parameters of an entry link, and the page for an annotator who gets no package."""

from collections.abc import Iterable, Mapping
from typing import Final

from spotthebot.contracts.annotation.entries import LONGEST_PARAMETER, LONGEST_VALUE, MAX_PARAMETERS
from spotthebot.contracts.annotation.panels import ENTRY_PARAMETER

STATES_OF_REFUSALS: Final[Mapping[str, str]] = {
    "closed": "over",
    "limit-reached": "all_done",
    "no-package-held": "between",
    "nothing-left": "nothing_left",
    "blocked": "blocked",
    "training-failed": "training_failed",
    "entry-link-revoked": "link_revoked",
}
"""The page for a refused claim, by the name of the problem."""
STATES_OF_CAMPAIGNS: Final[Mapping[str, str]] = {"paused": "paused", "draft": "not_open", "building": "not_open"}
"""The page for a campaign that is closed for claims, by its state. In all other states the campaign is over."""
CAN_APPEAL: Final = frozenset({"blocked", "training_failed"})
"""Pages on which an annotator may leave a note."""


def entry_parameters(query: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the parameters of an entry link, as the service `annotation` accepts them.

    Other sites may add parameters to a link. Parameters that are too long or too many are left out, but never the
    token.
    """
    fitting = {
        name: value
        for name, value in query
        if len(name) <= LONGEST_PARAMETER and len(value) <= LONGEST_VALUE and "\0" not in name + value
    }
    token = {name: value for name, value in fitting.items() if name == ENTRY_PARAMETER}
    return token | dict(list(fitting.items())[: MAX_PARAMETERS - 1])


def state_of_refusal(refusal: str, campaign_state: str, *, has_completion: bool) -> str:
    """Return the name of the page for an annotator who was refused a package.

    If the campaign is closed to annotators, the page depends on the campaign's state, otherwise on the refusal. An
    annotator who reached the limit without a completion submitted only work that was rejected.
    """
    if refusal == "limit-reached" and not has_completion:
        return "ended"
    if refusal == "closed":
        return STATES_OF_CAMPAIGNS.get(campaign_state, STATES_OF_REFUSALS[refusal])
    return STATES_OF_REFUSALS[refusal]
