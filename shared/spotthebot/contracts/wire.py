"""What all wire schemas share: strict fields, and text that PostgreSQL and a browser can both hold."""

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints


def _without_nul(text: str) -> str:
    if "\x00" in text:
        message = "must not contain NUL characters"
        raise ValueError(message)
    return text


def of_form(pattern: str, rule: str) -> Callable[[str], str]:
    """Return a check of a text's form that says the rule in words, where pydantic's own would show the pattern."""
    form = re.compile(pattern)

    def check(text: str) -> str:
        if not form.fullmatch(text):
            raise ValueError(rule)
        return text

    return check


Text = Annotated[str, AfterValidator(_without_nul)]
# The constraints come first: after a validator of ours pydantic would count the blanks before it strips them.
Name = Annotated[
    str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True), AfterValidator(_without_nul)
]
Domain = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,49}$")]
Split = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,49}$")]
ExternalId = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
Words = Annotated[
    str, StringConstraints(min_length=1, max_length=2000, strip_whitespace=True), AfterValidator(_without_nul)
]
"""What a person says: not only blanks."""
Utterance = Annotated[Text, StringConstraints(max_length=20_000)]


class Wire(BaseModel):
    """Frozen, and strict about fields: one that is not known is an error, not a typo that goes unnoticed.

    Errors name the field and the reason, never the value: logs hold no note of an annotator and no text of a bot.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
