"""Panels: which query parameters name a person, which form their ids have, and how people get back to the panel.

Where the forms are from, in stored copies read on 2026-11-22: Prolific's API reference (the study object; set up
bonuses), CloudResearch's researcher help (How to Integrate your Survey with Connect; Project Completion), and Amazon's
requester guide (How Mechanical Turk tasks are rendered; ExternalQuestion). Connect says nothing of the form of its ids.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import quote

from spotthebot.annotation.campaigns.domain import is_like_a_program
from spotthebot.annotation.entry_links.errors import AnnotatorIdUnusable, EntryRefused
from spotthebot.contracts.annotation.panels import (
    ENTRY_PARAMETER,
    CloudResearchPanel,
    GenericPanel,
    MturkPanel,
    ProlificPanel,
    StoredPanel,
)
from spotthebot.kit.crypto.pseudonyms import is_pseudonym
from spotthebot.kit.errors import FieldError

_NOT_ACCEPTED: Final = "ASSIGNMENT_ID_NOT_AVAILABLE"
_TURK_HOSTS: Final = ("https://www.mturk.com", "https://workersandbox.mturk.com")


@dataclass(frozen=True)
class _Parameter:
    """A query parameter of a panel: the form of its value, and what is said where the value has another one."""

    name: str
    form: re.Pattern[str]
    rule: str
    is_required: bool = True


_HEX: Final = re.compile(r"[0-9a-f]{24}")
_HEX_RULE: Final = "must be 24 hexadecimal digits, in lower case"
_TURK_ID: Final = re.compile(r"[A-Z0-9]{1,64}")
_TURK_RULE: Final = "must be up to 64 capital letters and digits"
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.~@+|:-]{0,199}")
_PLAIN_RULE: Final = "must begin with a letter or digit, and hold letters, digits and _.~@+|:- only, 200 at most"
_TAKEN_RULE: Final = "must be no name of simulated annotators or of pseudonyms (simulated-..., p-...): give another id"
_PROLIFIC: Final = (
    _Parameter("PROLIFIC_PID", _HEX, _HEX_RULE),
    _Parameter("STUDY_ID", _HEX, _HEX_RULE, is_required=False),
    _Parameter("SESSION_ID", _HEX, _HEX_RULE, is_required=False),
)
_CONNECT: Final = (
    _Parameter("participantId", _PLAIN, _PLAIN_RULE),
    _Parameter("assignmentId", _PLAIN, _PLAIN_RULE, is_required=False),
    _Parameter("projectId", _PLAIN, _PLAIN_RULE, is_required=False),
)
_TURK: Final = (
    _Parameter("workerId", re.compile(r"A[A-Z0-9]{1,63}"), "must be an A and up to 63 capital letters and digits"),
    _Parameter("assignmentId", _TURK_ID, _TURK_RULE),
    _Parameter("hitId", _TURK_ID, _TURK_RULE),
    _Parameter(
        "turkSubmitTo",
        re.compile("|".join(f"{re.escape(host)}/?" for host in _TURK_HOSTS)),
        f"must be {' or '.join(_TURK_HOSTS)}",
    ),
)


@dataclass(frozen=True)
class PanelIdentity:
    """Whom a panel sent: the person's id, and the panel's parameters, all of the form that they must have."""

    annotator: str
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class Completion:
    """How an annotator shows the panel that the work is done: a code, a redirect, or a form to be sent."""

    kind: Literal["code", "redirect", "form"]
    code: str | None = None
    url: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


def id_parameter(panel: StoredPanel) -> str:
    """Return the query parameter that holds a person's id."""
    return _parameters(panel)[0].name


def entry_query(panel: StoredPanel | None, token: str) -> str:
    """Return the query of an entry link; Prolific puts its ids where it finds `{{%...%}}`, other panels add theirs."""
    names = [each.name for each in _PROLIFIC] if isinstance(panel, ProlificPanel) else []
    return "&".join([f"{ENTRY_PARAMETER}={token}", *(f"{name}={{{{%{name}%}}}}" for name in names)])


def is_preview(panel: StoredPanel | None, parameters: Mapping[str, str]) -> bool:
    """Say whether Mechanical Turk shows the HIT to a person who has not accepted it."""
    return isinstance(panel, MturkPanel) and parameters.get("assignmentId") == _NOT_ACCEPTED


def read_identity(panel: StoredPanel, parameters: Mapping[str, str]) -> PanelIdentity:
    """Return whom a panel sent; parameters that are not the panel's are left out.

    Anybody can write an id into the URL, so none may be that of a simulated annotator or a pseudonym. Raises
    EntryRefused with each parameter that is missing or of another form.
    """
    known = _parameters(panel)
    faults = [
        FieldError(f"/parameters/{each.name}", each.rule if each.name in parameters else f"is missing: {each.rule}")
        for each in known
        if (each.name in parameters or each.is_required) and not each.form.fullmatch(parameters.get(each.name, ""))
    ]
    if faults:
        raise EntryRefused(fields=tuple(faults))
    person = parameters[known[0].name]
    if is_like_a_program(person) or is_pseudonym(person):
        raise EntryRefused(fields=(FieldError(f"/parameters/{known[0].name}", _TAKEN_RULE),))
    sent = {each.name: parameters[each.name] for each in known if each.name in parameters}
    return PanelIdentity(person, sent)


def require_id(panel: StoredPanel | None, annotator: str) -> None:
    """Raise AnnotatorIdUnusable where a panel's people have ids of another form.

    Programs with a frontend's key may simulate annotators of panels, but nobody comes with a pseudonym.
    """
    if panel is None:
        return
    known = _parameters(panel)[0]
    if not known.form.fullmatch(annotator) or is_pseudonym(annotator):
        rule = _TAKEN_RULE if is_pseudonym(annotator) else known.rule
        raise AnnotatorIdUnusable(panel=panel.kind, fields=(FieldError("/annotator", rule),))


def completion(
    panel: StoredPanel | None, annotator: str, entered_with: Mapping[str, str], code: str
) -> Completion | None:
    """Return how an annotator shows the panel that a package is done; None where a campaign has no panel.

    `code` is the package's own. What comes from requests is checked or URL-encoded, and never decides the host. Of
    Mechanical Turk it is None for those who did not enter by a link: only the URL says which assignment to end.
    """
    match panel:
        case MturkPanel() if "assignmentId" in entered_with:
            url = f"{entered_with['turkSubmitTo'].rstrip('/')}/mturk/externalSubmit"
            fields = {"assignmentId": entered_with["assignmentId"], "completionCode": code}
            return Completion("form", url=url, fields=fields)
        case ProlificPanel() | CloudResearchPanel() | GenericPanel() if back := _redirect(panel, annotator, code):
            return Completion("redirect", url=back)
        case CloudResearchPanel():
            return Completion("code", code=panel.completion_code)
        case GenericPanel():
            return Completion("code", code=code)
    return None


def _redirect(panel: ProlificPanel | CloudResearchPanel | GenericPanel, annotator: str, code: str) -> str | None:
    """Return where a panel takes people back, None where they are shown a code instead."""
    match panel:
        case ProlificPanel():
            return f"https://app.prolific.com/submissions/complete?cc={quote(panel.completion_code, safe='')}"
        case GenericPanel() if panel.redirect_url is not None:
            filled = {"{code}": quote(code, safe=""), "{annotator}": quote(annotator, safe="")}
            return re.sub(r"{\w+}", lambda found: filled[found[0]], panel.redirect_url)
    return panel.redirect_url


def _parameters(panel: StoredPanel) -> tuple[_Parameter, ...]:
    """Return the parameters of a panel, the person's id first."""
    match panel:
        case ProlificPanel():
            return _PROLIFIC
        case CloudResearchPanel():
            return _CONNECT
        case MturkPanel():
            return _TURK
        case GenericPanel():
            return (_Parameter(panel.parameter, _PLAIN, _PLAIN_RULE),)
