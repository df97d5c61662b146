"""Panels: the query parameters that identify a person, the format of ids, and the way back to the panel.

Sources, in stored copies read on 2026-11-22: Prolific's API reference (the study object; set up bonuses),
CloudResearch's researcher help (How to Integrate your Survey with Connect; Project Completion), and Amazon's requester
guide (How Mechanical Turk tasks are rendered; ExternalQuestion). Connect does not document the format of its ids.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import quote

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
    """A query parameter of a panel: the format of its value, and the message for a value in another format."""

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
_TAKEN_RULE: Final = "must not have the form of a pseudonym (p- and 26 characters): give another id"
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
    """A person sent by a panel: the person's id and the panel's parameters, with validated formats."""

    annotator: str
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class Completion:
    """The proof for a panel that work is done: a code, a redirect, or a form to send."""

    kind: Literal["code", "redirect", "form"]
    code: str | None = None
    url: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


def id_parameter(panel: StoredPanel) -> str:
    """Return the query parameter that holds a person's id."""
    return _parameters(panel)[0].name


def entry_query(panel: StoredPanel | None, token: str) -> str:
    """Return the query of an entry link. Prolific fills in ids at `{{%...%}}`, other panels append ids."""
    names = [each.name for each in _PROLIFIC] if isinstance(panel, ProlificPanel) else []
    return "&".join([f"{ENTRY_PARAMETER}={token}", *(f"{name}={{{{%{name}%}}}}" for name in names)])


def is_preview(panel: StoredPanel | None, parameters: Mapping[str, str]) -> bool:
    """Return whether a person only looks at a HIT (a task of Mechanical Turk) without having accepted it."""
    return isinstance(panel, MturkPanel) and parameters.get("assignmentId") == _NOT_ACCEPTED


def read_identity(panel: StoredPanel, parameters: Mapping[str, str]) -> PanelIdentity:
    """Return the person that a panel sent; parameters of other panels are left out.

    Anybody can write an id into the URL. So ids in the form of pseudonyms are refused. Raises EntryRefused with each
    parameter that is missing or has the wrong format.
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
    if is_pseudonym(person):
        raise EntryRefused(fields=(FieldError(f"/parameters/{known[0].name}", _TAKEN_RULE),))
    sent = {each.name: parameters[each.name] for each in known if each.name in parameters}
    return PanelIdentity(person, sent)


def require_id(panel: StoredPanel | None, annotator: str) -> None:
    """Raise AnnotatorIdUnusable if the id does not have the panel's format, or is a pseudonym.

    Programs with a frontend's key may simulate annotators of panels.
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
    """Return how an annotator shows the panel that a package is done; None if a campaign has no panel.

    `code` belongs to the package. Values from requests are validated or URL-encoded, and never determine the host.
    Mechanical Turk's assignment is known only from the URL of an entry link. So the result is None for people of
    Mechanical Turk who entered without a link.
    """
    match panel:
        case MturkPanel() if "assignmentId" in entered_with:
            url = f"{entered_with['turkSubmitTo'].rstrip('/')}/mturk/externalSubmit"
            fields = {"assignmentId": entered_with["assignmentId"], "completionCode": code}
            return Completion("form", url=url, fields=fields)
        case ProlificPanel() | CloudResearchPanel() | GenericPanel() if back := _redirect(panel, annotator, code):
            return Completion(
                "redirect", code=code if isinstance(panel, GenericPanel) else panel.completion_code, url=back
            )
        case CloudResearchPanel():
            return Completion("code", code=panel.completion_code)
        case GenericPanel():
            return Completion("code", code=code)
    return None


def _redirect(panel: ProlificPanel | CloudResearchPanel | GenericPanel, annotator: str, code: str) -> str | None:
    """Return the URL that takes people back to a panel; None if the panel has people enter a code instead."""
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
