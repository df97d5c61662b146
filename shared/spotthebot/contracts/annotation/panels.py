"""Panels of annotators, and how an annotator proves to a panel that the work is done."""

import re
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema, model_validator

from spotthebot.contracts.wire import Text, Wire, of_form

ENTRY_PARAMETER: Final = "entry"
"""The query parameter that holds the token of an entry link."""
SIGNATURE_PARAMETER: Final = "id_signature"
"""The query parameter that holds the panel's signature over a person's id, if a link requires one."""
_HTTPS = re.compile(r"https://([A-Za-z0-9.-]+)(:[0-9]{1,5})?(/[^?#\\\"<>{}]*)?(\?[^#\\\"<>]*)?")
_PLACES = re.compile(r"{(.*?)}|[{}]")


def _https(url: str) -> str:
    if not _HTTPS.fullmatch(url):
        message = "must be an https:// URL without a user, without a fragment, and with braces only in its query"
        raise ValueError(message)
    return url


def _template(url: str) -> str:
    if any(found[1] not in {"code", "annotator"} for found in _PLACES.finditer(_https(url))):
        message = "may hold {code} and {annotator} in its query, and no other braces"
        raise ValueError(message)
    return url


def _of_connect(url: str) -> str:
    found = _HTTPS.fullmatch(_https(url))
    if found is None or found[1] != "connect.cloudresearch.com" or "{" in url:
        message = "must begin with https://connect.cloudresearch.com/: copy it from the project's settings on Connect"
        raise ValueError(message)
    return url


_Url = Annotated[Text, StringConstraints(min_length=10, max_length=1000, pattern=r"^[\x21-\x7e]+$")]
RedirectTemplate = Annotated[_Url, AfterValidator(_template)]
ConnectUrl = Annotated[_Url, AfterValidator(_of_connect)]
PanelCode = Annotated[
    str,
    AfterValidator(of_form("[A-Za-z0-9_-]{1,64}", "must be up to 64 letters, digits, - and _, such as C1A2B3")),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}),
]
ParameterName = Annotated[
    str,
    AfterValidator(of_form("[A-Za-z][A-Za-z0-9_.-]{0,49}", "must be a letter, then letters, digits, _, . and -")),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_.-]{0,49}$"}),
]


class ProlificPanel(Wire):
    """Prolific: people arrive with PROLIFIC_PID, STUDY_ID and SESSION_ID in the URL, and return with a code."""

    kind: Literal["prolific"]
    completion_code: PanelCode = Field(description="A completion code of the study, as Prolific shows it.")


class CloudResearchPanel(Wire):
    """CloudResearch Connect: people arrive with participantId in the URL, and return by a redirect or with a code."""

    kind: Literal["cloudresearch"]
    redirect_url: ConnectUrl | None = Field(default=None, description="The redirect URL that Connect shows.")
    completion_code: PanelCode | None = Field(default=None, description="The fixed completion code of the project.")

    @model_validator(mode="after")
    def _has_one_way_back(self) -> "CloudResearchPanel":
        if (self.redirect_url is None) == (self.completion_code is None):
            message = "give either redirect_url or completion_code"
            raise ValueError(message)
        return self


class GenericPanel(Wire):
    """Any panel that puts an id into the URL. People return by a redirect or with the package's code."""

    kind: Literal["generic"]
    parameter: ParameterName = Field(description="The query parameter that holds the person's id.")
    redirect_url: RedirectTemplate | None = Field(
        default=None,
        description=(
            "Where people go at the end, with {code} for the package's completion code and {annotator} for the "
            "person's id, both in the query; null: they are shown the code."
        ),
        examples=["https://panel.example.org/done?study=7&code={code}"],
    )

    @model_validator(mode="after")
    def _parameter_is_free(self) -> "GenericPanel":
        if self.parameter == ENTRY_PARAMETER:
            message = f"the parameter '{ENTRY_PARAMETER}' holds the entry link's token: choose another for the id"
            raise ValueError(message)
        return self


class MturkPanel(Wire):
    """Mechanical Turk's external question. Mechanical Turk closed on 2026-09-30; earlier campaigns keep this panel.

    People arrived with workerId, and a form ended each HIT's assignment.
    """

    kind: Literal["mturk"]


def _not_of_the_past(panel: object) -> object:
    kind = panel.get("kind") if isinstance(panel, dict) else getattr(panel, "kind", None)
    if kind == "mturk":
        message = "can't be mturk: Mechanical Turk closed to everybody on 2026-09-30; name another panel, or generic"
        raise ValueError(message)
    return panel


Panel: TypeAlias = Annotated[
    ProlificPanel | CloudResearchPanel | GenericPanel, Field(discriminator="kind"), BeforeValidator(_not_of_the_past)
]
"""The panel of a new campaign."""
StoredPanel: TypeAlias = Annotated[
    ProlificPanel | CloudResearchPanel | GenericPanel | MturkPanel, Field(discriminator="kind")
]
"""The panel of any campaign, including panels that have closed since."""


class CompletionOut(Wire):
    """How an annotator proves to the panel that the work is done."""

    kind: Literal["code", "redirect", "form"] = Field(
        description="`code`: show it; `redirect`: send the browser to `url`; `form`: have it POST `fields` to `url`."
    )
    code: str | None = Field(description="The code that the panel asks for; null where only `url` or `fields` has it.")
    url: str | None
    fields: dict[str, str] = Field(max_length=5)
